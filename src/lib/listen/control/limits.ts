/** Bounds of the control socket: nobody who is allowed to connect can make it hold much, or for long. */
export const LIMITS = {
  connections: 64,
  headersTimeoutMs: 10_000,
  /** For a whole request; events may be sent for as long as they come. */
  requestTimeoutMs: 3_600_000,
  keepAliveTimeoutMs: 5_000,
  /** A body that is read as a whole. */
  bodyBytes: 1 << 20,
  /** Entries of an answer between two turns of other work. */
  turnEntries: 512,
} as const;
