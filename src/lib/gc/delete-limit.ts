/** How much may go: a share of what may be judged, and of each scope and family in it, summed over an hour. */
import { RefusedError, UsageError } from '../errors.ts';
import type { CollectedState } from '../state/checkpoint.ts';
import { kindOf, type MapRows } from './map-rows.ts';

export type DeleteLimit = { readonly percent: number } | { readonly count: number };

export const DEFAULT_LIMIT: DeleteLimit = { percent: 20 };
const HOUR_MS = 3_600_000;

/** Reads `20%` or a number of entries. @throws {UsageError} BAD_LIMIT */
export function parseDeleteLimit(text: string): DeleteLimit {
  const [, number, percent] = /^(\d{1,9}(?:\.\d{1,3})?)(%?)$/.exec(text) ?? [];
  const value = Number(number);
  if (percent === '%' && value <= 100) return { percent: value };
  if (percent === '' && Number.isInteger(value)) return { count: value };
  throw new UsageError(`Cannot read limit ${JSON.stringify(text)}: neither a share up to 100% nor a whole number`, {
    code: 'BAD_LIMIT',
    hint: 'write 20% or 500',
  });
}

/** The text that parses to the limit. */
export function formatDeleteLimit(limit: DeleteLimit): string {
  return 'count' in limit ? `${limit.count}` : `${limit.percent}%`;
}

/** What was deleted in the hour before `now`. */
export function collectedLately(collected: readonly CollectedState[], now: number): CollectedState[] {
  return collected.filter(({ time }) => {
    const age = now - Date.parse(time);
    // A clock that was set back makes the past look like the future: it still happened lately.
    return age < HOUR_MS;
  });
}

export interface LimitQuestion {
  readonly rows: MapRows;
  /** Rows that somebody may be believed about, by kind code. */
  readonly judged: ReadonlyMap<number, number>;
  readonly stale: readonly number[];
  readonly limit: DeleteLimit;
  /** Of the last hour. */
  readonly collected: readonly CollectedState[];
  /** Names the map. */
  readonly map: string;
}

/** @throws {RefusedError} TOO_MANY, TOO_MANY_OF_KIND */
export function requireWithinLimit({ rows, judged, stale, limit, collected, map }: LimitQuestion): void {
  if (stale.length === 0) return;
  const of = byScopeAndFamily(judged);
  const going = byScopeAndFamily(rows.countKinds(stale));
  const gone = new Map<string, number>();
  for (const { scope, family, deleted } of collected) add(gone, `${scope} ${family}`, deleted);
  const all = { name: '', going: stale.length, gone: sum(gone), of: sum(of) };
  if (isOver(limit, all)) throw tooMany(map, limit, all);
  if ('count' in limit) return;
  for (const [name, count] of going) {
    const kind = { name, going: count, gone: gone.get(name) ?? 0, of: of.get(name) ?? 0 };
    if (isOver(limit, kind)) throw tooMany(map, limit, kind);
  }
}

interface Share {
  /** `local ipv4`; empty for everything. */
  readonly name: string;
  readonly going: number;
  /** Within the last hour. */
  readonly gone: number;
  /** Entries there now. */
  readonly of: number;
}

function isOver(limit: DeleteLimit, { going, gone, of }: Share): boolean {
  if ('count' in limit) return going + gone > limit.count;
  return (going + gone) * 100 > (of + gone) * limit.percent;
}

function tooMany(map: string, limit: DeleteLimit, { name, going, gone, of }: Share): RefusedError {
  const what = name === '' ? 'entries' : `${name} entries`;
  const before = gone === 0 ? '' : `, after ${gone} within the last hour`;
  const allowed = formatDeleteLimit(limit);
  return new RefusedError(
    `Cannot collect garbage in ${map}: ${going} of ${of} ${what} would go${before}, and at most ${allowed} may`,
    {
      code: name === '' ? 'TOO_MANY' : 'TOO_MANY_OF_KIND',
      hint: 'look whether the desired state is complete (ipc gc --dry-run --max-delete 100% lists what would go); --max-delete allows more',
      operands: { stale: going, entries: of, deletedLately: gone, ...(name !== '' && { kind: name }) },
    },
  );
}

/** Kind codes as `scope family`, all clusters together. */
function byScopeAndFamily(codes: ReadonlyMap<number, number>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [code, count] of codes) {
    const { scope, family } = kindOf(code);
    add(counts, `${scope} ${family}`, count);
  }
  return counts;
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

function sum(counts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
