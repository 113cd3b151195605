import { UsageError } from '../errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|[smhd])/g;

/**
 * Reads `30s`, `10m`, `1h30m`, `250ms` or bare seconds.
 * @returns milliseconds
 * @throws {UsageError} code BAD_DURATION
 */
export function parseDuration(text: string): number {
  const ms = parseAge(text);
  if (ms > LONGEST_MS) throw bad(text, 'longer than 24 days');
  return ms;
}

/** As `parseDuration`, of something that nobody waits for. */
export function parseAge(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  if (!WHOLE.test(text)) throw bad(text, 'not a duration');
  let ms = 0;
  for (const [, number, unit] of text.matchAll(PART)) ms += Number(number) * (UNIT_MS[unit ?? ''] ?? 0);
  return Math.round(ms);
}

// setTimeout() fires at once for more than 2^31 - 1 ms: such a value would do the opposite of what was asked.
const LONGEST_MS = 2 ** 31 - 1;

function bad(text: string, state: string): UsageError {
  return new UsageError(`Cannot read duration ${JSON.stringify(text)}: ${state}`, {
    code: 'BAD_DURATION',
    hint: 'write 30s, 10m, 1h30m or bare seconds',
  });
}
