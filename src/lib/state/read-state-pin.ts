/** Whose state a directory holds, without reading all of it: the pin stands in the first line, which is short. */
import { closeSync, openSync, readSync } from 'node:fs';
import { statePaths } from './paths.ts';

/** More than the longest path, escaped, and what stands before it. */
const HEAD_BYTES = 32 * 1024;

/** @returns undefined when there is no checkpoint, it may not be read, or it does not begin as one does */
export function readStatePin(directory: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(statePaths(directory).checkpoint, 'r');
  } catch {
    return undefined;
  }
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const text = head.toString('utf8', 0, readSync(fd, head, 0, HEAD_BYTES, 0));
    const pin =
      /^\s*\{\s*"schemaVersion"\s*:\s*\d+\s*,\s*"kind"\s*:\s*"ipc-checkpoint"\s*,\s*"pin"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(
        text,
      );
    return pin?.[1] === undefined ? undefined : (JSON.parse(pin[1]) as string);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
