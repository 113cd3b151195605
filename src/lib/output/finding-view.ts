/** How findings look, the same in every command that makes them. */
import { type Finding, SEVERITIES, type Severity } from '../check/finding.ts';
import { escapeText } from './escape.ts';
import type { Paint } from './paint.ts';
import type { JsonObject } from './view.ts';

export function findingJson(finding: Finding): JsonObject {
  const { check, severity, prefix, message, hint, before, after, evidence } = finding;
  return { check, severity, prefix, message, hint, before, after, evidence };
}

/** How many there are of each severity, 0 included. */
export function countBySeverity(findings: readonly Finding[]): Record<Severity, number> {
  const counts = { high: 0, medium: 0, low: 0, info: 0 };
  for (const { severity } of findings) counts[severity]++;
  return counts;
}

/** One line, its evidence and the next step below it. */
export function* findingText(finding: Finding, paint: Paint): Generator<string> {
  const { check, severity, message, hint, evidence = [] } = finding;
  yield `${paintSeverity(severity, paint)}  ${paint.bold(check)}  ${escapeText(message)}`;
  for (const line of evidence) yield `        ${paint.dim(escapeText(line))}`;
  if (hint !== undefined) yield `        → ${escapeText(hint)}`;
}

/** `2 high, 1 low`, or `nothing`. */
export function severityWords(findings: readonly Finding[]): string {
  const counts = countBySeverity(findings);
  const parts = SEVERITIES.filter((severity) => severity !== 'info' && counts[severity] > 0);
  return parts.length === 0 ? 'nothing' : parts.map((severity) => `${counts[severity]} ${severity}`).join(', ');
}

function paintSeverity(severity: Severity, paint: Paint): string {
  const word = severity.padEnd(6);
  switch (severity) {
    case 'high':
      return paint.bad(word);
    case 'medium':
      return paint.warning(word);
    case 'low':
      return word;
    case 'info':
      return paint.dim(word);
  }
}
