/** A snapshot file as one side of a comparison. */
import { snapshotOpener } from '../snapshot/snapshot-opener.ts';
import type { DiffInput } from './diff-input.ts';

/** @param file a path, or `-` for standard input */
export function snapshotInput(file: string, readStdin: () => Promise<Uint8Array>): DiffInput {
  return { label: file === '-' ? 'standard input' : file, live: false, open: snapshotOpener(file, readStdin) };
}
