/** Keeps the file that is about to be replaced, without a moment in which its own name is missing. */
import { constants } from 'node:fs';
import type * as FsPromises from 'node:fs/promises';
import { errnoOf } from './file-error.ts';

/** What file systems without hard links answer to link(2). */
const NO_LINKS = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/**
 * Makes `previous` a second name of the file at `path`, replacing an older one. A missing `path` has nothing to keep.
 * Killed in between, `path` is as it was and `previous` is the older or the same generation.
 */
export async function keepPrevious(path: string, previous: string): Promise<void> {
  const { link, rename, rm } = require('node:fs/promises') as typeof FsPromises;
  const step = `${previous}.new`;
  await rm(step, { force: true });
  try {
    await link(path, step);
  } catch (cause) {
    const errno = errnoOf(cause) ?? '';
    if (errno === 'ENOENT') return;
    if (!NO_LINKS.has(errno)) throw cause;
    await copyDurably(path, step);
  }
  await rename(step, previous);
  // Renaming one name of a file over another name of the same file does nothing at all, and leaves both.
  await rm(step, { force: true });
}

async function copyDurably(from: string, to: string): Promise<void> {
  const { copyFile, open } = require('node:fs/promises') as typeof FsPromises;
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const handle = await open(to, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
