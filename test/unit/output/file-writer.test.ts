import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StdoutClosed } from '../../../src/lib/output/byte-writer.ts';
import { FileWriter } from '../../../src/lib/output/file-writer.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'ipc-file-writer-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('FileWriter', () => {
  it('throws StdoutClosed when the file is a pipe whose reader is gone', () => {
    const fifo = path.join(folder, 'fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    const reader = openSync(fifo, 'r+');
    const writer = new FileWriter(fifo);
    writer.write(Buffer.from('x'));
    closeSync(reader);
    expect(() => writer.write(Buffer.from('y'))).toThrow(StdoutClosed);
    writer.abort();
  });
});
