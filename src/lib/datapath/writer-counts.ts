/** What a map writer has done since it began, for metrics and status. */
export interface WriterCounts {
  /** Updates that the kernel took. */
  written: number;
  deleted: number;
  /** Deletes of what was not there any more. */
  absent: number;
  /** Changes that a newer one of the same prefix replaced before it was written. */
  coalesced: number;
  /** Changes to what is waiting to be written already. */
  equal: number;
  /** Late deletes that would have hit another identity than the one they were meant for, and were dropped. */
  staleDeletes: number;
  /** Entries that nobody may write: identity 0. */
  zeroIdentities: number;
  /** Writes that the kernel could not take now and that were tried again later. */
  retried: number;
  /** Writes that the kernel refused for good. */
  failed: number;
  /** Batches that broke off and went on one by one. */
  fallbacks: number;
  /** In-place updates of a full map that went as a delete and an insert, with a moment without entry. */
  gaps: number;
}

export function newCounts(): WriterCounts {
  return {
    written: 0,
    deleted: 0,
    absent: 0,
    coalesced: 0,
    equal: 0,
    staleDeletes: 0,
    zeroIdentities: 0,
    retried: 0,
    failed: 0,
    fallbacks: 0,
    gaps: 0,
  };
}
