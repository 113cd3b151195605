/** Waits for a source to sync, but not for ever. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UnreachableError } from '../errors.ts';
import type { ReadOptions } from './source.ts';

/** @throws {UnreachableError} code SOURCE_NOT_SYNCED when the time is over; the signal's reason when it fires */
export async function withDeadline<T>(work: Promise<T>, name: string, { signal, timeoutMs }: ReadOptions): Promise<T> {
  const over = new AbortController();
  const stop = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const deadline = sleep(timeoutMs, undefined, { signal: stop }).then(() => {
    throw new UnreachableError(`Cannot read source ${name}: it did not sync within ${timeoutMs / 1000} s`, {
      code: 'SOURCE_NOT_SYNCED',
      hint: 'give it more time with --timeout, or look why it does not say that it is complete',
    });
  });
  try {
    return await Promise.race([work, deadline]);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    over.abort();
    deadline.catch(() => {});
  }
}
