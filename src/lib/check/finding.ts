/** What checks find, whichever command makes them. */

/** From the one that must be looked at to the one that is only said. */
export const SEVERITIES = ['high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Finding {
  /** A stable word that scripts may test. */
  readonly check: string;
  readonly severity: Severity;
  readonly prefix?: string;
  /** One sentence without a period. */
  readonly message: string;
  /** What to do next: a sentence or a command. */
  readonly hint?: string;
  readonly before?: string | number;
  readonly after?: string | number;
  /** What it rests on, a line each. */
  readonly evidence?: readonly string[];
}

/** Whether a severity counts when `least` and everything above it does. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
}
