/** A clock that goes on when a test says so. */
import type { Clock } from '../../src/lib/listen/clock.ts';

export class HandClock implements Clock {
  /** Milliseconds since the epoch. */
  ms = Date.UTC(2026, 0, 2, 3, 4, 5);

  readonly now = (): number => this.ms;

  readonly monotonic = (): number => this.ms;

  pass(ms: number): void {
    this.ms += ms;
  }
}
