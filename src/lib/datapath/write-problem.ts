/** What can go wrong with a write, and which of it passes by itself. */
import { errnoOf } from '../bpf/bpf-error.ts';

/** Something that may pass (`parked`), or will not (`failed`); `key` is the entry's, where it is about one. */
export interface WriteProblem {
  readonly kind: 'parked' | 'failed' | 'fallback' | 'zero-identity' | 'in-place-refused';
  readonly message: string;
  readonly key?: Uint8Array | undefined;
}

/** A full map, memory pressure, a lock that was not got (since Linux 6.15 also as a deadlock or timeout). */
const PASSING: ReadonlySet<string | undefined> = new Set([
  'ENOSPC',
  'E2BIG',
  'ENOMEM',
  'EBUSY',
  'EDEADLK',
  'ETIMEDOUT',
]);

export function isPassing(error: unknown): boolean {
  return PASSING.has(errnoOf(error));
}

export function isFull(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOSPC' || errno === 'E2BIG';
}
