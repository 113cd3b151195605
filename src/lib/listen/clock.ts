/** Time for the agent loop, given by the caller. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that only go forward. */
  monotonic(): number;
}

/** RFC 3339 UTC with milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
