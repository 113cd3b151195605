import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FailedError } from '../../../src/lib/errors.ts';
import { FdWriter, StdoutClosed } from '../../../src/lib/output/byte-writer.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'ipc-writer-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('FdWriter', () => {
  it('writes all bytes in order', () => {
    const file = path.join(folder, 'out');
    const fd = openSync(file, 'w');
    const writer = new FdWriter(fd);
    writer.write(Buffer.from('ab'));
    writer.write(Buffer.alloc(0));
    writer.write(Buffer.from('cd'));
    closeSync(fd);
    expect(readFileSync(file, 'utf8')).toBe('abcd');
  });

  it('prepares once, before the first byte', () => {
    const fd = openSync(path.join(folder, 'p'), 'w');
    let prepared = 0;
    const writer = new FdWriter(fd, () => prepared++);
    expect(prepared).toBe(0);
    writer.write(Buffer.from('a'));
    writer.write(Buffer.from('b'));
    closeSync(fd);
    expect(prepared).toBe(1);
  });

  it('says so when the device is full', () => {
    const fd = openSync('/dev/full', 'w');
    const write = (): void => new FdWriter(fd).write(Buffer.from('x'));
    expect(write).toThrow(FailedError);
    expect(write).toThrow('Cannot write standard output: no space left on the device');
    closeSync(fd);
  });

  it('throws StdoutClosed when the reader of a pipe is gone', () => {
    // The pipe's only reader ends before we write: opening a FIFO is how to have both ends in one process.
    const fifo = path.join(folder, 'fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    const reader = openSync(fifo, 'r+');
    const fd = openSync(fifo, 'w');
    closeSync(reader);
    expect(() => new FdWriter(fd).write(Buffer.from('x'))).toThrow(StdoutClosed);
    closeSync(fd);
  });
});
