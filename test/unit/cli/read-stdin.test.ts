import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readStdin } from '../../../src/lib/cli/read-stdin.ts';

describe('readStdin()', () => {
  test('joins chunks before it reads them as text', async () => {
    const bytes = Buffer.from('→ é');
    expect(await readStdin(Readable.from([bytes.subarray(0, 1), bytes.subarray(1)]), 'x')).toBe('→ é');
  });

  test('does not wait for somebody to type', async () => {
    const terminal = Object.assign(Readable.from([]), { isTTY: true });
    await expect(readStdin(terminal, 'bytes')).rejects.toThrow('Cannot read bytes: standard input is a terminal');
  });
});
