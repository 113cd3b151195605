import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Dump from '../../../src/commands/dump.ts';
import { compileC, haveCompiler } from '../../support/compile-c.ts';
import { type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { runCommand } from '../../support/run-command.ts';

describe.skipIf(!haveCompiler)('ipc dump --json --no-labels', () => {
  let pins: PinDirectory;
  let scratch: string;
  let fill: string;
  let read: string;

  beforeAll(() => {
    pins = pinDirectory('c-reader');
    scratch = mkdtempSync(join(tmpdir(), 'ipc-c-reader-'));
    fill = compileC('lpmfill', scratch);
    read = compileC('lpmread', scratch);
  });
  afterAll(() => {
    pins[Symbol.dispose]();
    rmSync(scratch, { recursive: true });
  });

  it.each([
    ['random', 100_000],
    ['mix', 20_000],
    ['random', 1],
    ['mix', 0],
  ])('prints byte for byte what the C reader prints of %s %i', async (kind, entries) => {
    const pin = join(pins.path, `${kind}_${entries}`);
    execFileSync(fill, [pin, String(entries), kind]);
    const wanted = execFileSync(read, [pin], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
    const { stdout, stderr, exitCode } = await runCommand(Dump, ['--json', '--no-labels', '--map', pin]);
    expect(exitCode).toBe(0);
    expect(stderr).toBe('');
    // Compared as bytes: an assertion on 15 MB of text would print them.
    expect(Buffer.compare(Buffer.from(stdout), wanted)).toBe(0);
    expect(stdout.split('\n').length).toBe(entries + (entries === 0 ? 2 : 3));
  });
});
