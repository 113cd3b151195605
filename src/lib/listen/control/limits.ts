/** Bounds of the control socket: nobody who is allowed to connect can make it hold much, or for long. */
export const LIMITS = {
  connections: 64,
  headerBytes: 16_384,
  headersTimeoutMs: 10_000,
  /** For a whole request; events may be sent for as long as they come. */
  requestTimeoutMs: 3_600_000,
  keepAliveTimeoutMs: 5_000,
  /** How often Node looks for connections that are over these times. */
  checkIntervalMs: 1_000,
  /** For a body that is read as a whole, and for a client to read some more of an answer. */
  patienceMs: 5_000,
  /** A body that is read as a whole. */
  bodyBytes: 1 << 20,
  /** Entries of an answer between two turns of other work. */
  turnEntries: 512,
} as const;
