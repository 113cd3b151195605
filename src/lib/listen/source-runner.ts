/** Follows one source until the loop ends: a source that is down is tried again for ever. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FailedError, IncompleteError, MalformedError, NotFoundError, UnreachableError } from '../errors.ts';
import type { Source } from '../sources/source.ts';
import type { SourceFeed } from './source-feed.ts';

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** Settles when the signal fires or the source has nothing more to say. @throws what no other try would change */
export async function runSource(source: Source, feed: SourceFeed, signal: AbortSignal): Promise<void> {
  for (let delay = FIRST_RETRY_MS; ; delay = Math.min(delay * 2, LONGEST_RETRY_MS)) {
    try {
      return await source.follow(feed, { signal });
    } catch (error) {
      if (signal.aborted) return;
      if (!mayPass(error)) throw error;
      feed.lost(error.message);
    }
    await sleep(delay, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
  }
}

/** Something that is missing, down or half-written now. A bad line comes here only when every line has to be good. */
function mayPass(error: unknown): error is Error {
  if (error instanceof MalformedError) return error.code !== 'BAD_EVENT';
  return [UnreachableError, NotFoundError, IncompleteError, FailedError].some((kind) => error instanceof kind);
}
