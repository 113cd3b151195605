/** A snapshot into a file: all of it or nothing. */
import { openAtomicFile } from '../fs/atomic-file.ts';
import { gzipTo } from './gzip-writer.ts';
import type { SnapshotEnd } from './lines.ts';
import { type SnapshotContent, writeSnapshot } from './write-snapshot.ts';

/** A snapshot tells who talks to whom. */
const MODE = 0o600;

/**
 * Replaces the file, or makes it; compressed when its name ends in `.gz`. The bytes are on the disk when it returns.
 * @throws {ToolError} as `openAtomicFile`; what reading the content throws: then the file is as it was
 */
export async function storeSnapshot(path: string, content: SnapshotContent): Promise<SnapshotEnd> {
  using file = openAtomicFile(path, { mode: MODE });
  let end: SnapshotEnd;
  if (path.endsWith('.gz')) {
    const gzip = gzipTo((bytes) => file.write(bytes));
    end = await writeSnapshot(content, gzip.write);
    await gzip.end();
  } else {
    // Into the page cache, which takes less time than handing it to another thread.
    end = await writeSnapshot(content, (bytes) => file.writeSync(bytes));
  }
  await file.commit();
  return end;
}
