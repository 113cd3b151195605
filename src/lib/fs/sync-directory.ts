/** Makes the names in a directory durable: a rename or a new file is only safe after this. */
import type * as FsPromises from 'node:fs/promises';
import { errnoOf } from './file-error.ts';

/** fsync of a directory. File systems that do not know it (EINVAL) have nothing to sync. */
export async function syncDirectory(path: string): Promise<void> {
  const { open } = require('node:fs/promises') as typeof FsPromises;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (cause) {
    if (errnoOf(cause) !== 'EINVAL') throw cause;
  } finally {
    await handle.close();
  }
}
