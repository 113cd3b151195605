/** Opens one snapshot again and again, also from what can be read only once. */
import { lookAt } from '../fs/look-at.ts';
import { fileChunks } from './file-chunks.ts';
import { openSnapshot, type SnapshotReader } from './snapshot-reader.ts';

const STDIN = 'standard input';

/**
 * @param file a path, or `-` for standard input. Standard input and pipes are read once and kept in memory
 * @returns what begins a reading of its own each time, and throws what `openSnapshot` throws
 */
export function snapshotOpener(file: string, readStdin: () => Promise<Uint8Array>): () => Promise<SnapshotReader> {
  if (file !== '-' && !isPipe(file)) return () => openSnapshot(file);
  const [label, read] = file === '-' ? [STDIN, readStdin] : [file, () => readAll(fileChunks(file))];
  let kept: Promise<Uint8Array> | undefined;
  return async () => {
    kept ??= read();
    const bytes = await kept;
    return openSnapshot(label, () => once(bytes));
  };
}

function isPipe(file: string): boolean {
  const stats = lookAt(file);
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (bytes.length > 0) yield bytes;
}
