/** Waits for whoever is asked to become complete, but not for ever. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UnreachableError } from '../errors.ts';
import type { ReadOptions } from './source.ts';

const PAUSE_MS = 250;

/**
 * Asks again as long as the answer is SOURCE_NOT_SYNCED.
 * @throws {UnreachableError} its last answer, when the time is over; whatever else `ask` throws, at once
 */
export async function untilSynced<T>(
  ask: () => Promise<T>,
  { signal, timeoutMs }: Pick<ReadOptions, 'signal' | 'timeoutMs'>,
): Promise<T> {
  const over = AbortSignal.timeout(timeoutMs);
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      const isEarly = error instanceof UnreachableError && error.code === 'SOURCE_NOT_SYNCED';
      if (!isEarly || over.aborted) throw error;
    }
    await sleep(Math.min(PAUSE_MS, timeoutMs), undefined, { signal }).catch(() => {});
  }
}
