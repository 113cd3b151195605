/** A map that is made must hold what goes into it. */
import { FailedError } from '../errors.ts';
import { isAdded } from '../restore/planned-entry.ts';
import type { Prepared } from './restore-run.ts';
import type { RestoreTarget } from './restore-target.ts';

/** Foretells what `rethrow` would have to say. @throws {FailedError} NEW_MAP_TOO_SMALL */
export function requireRoom({ target, plan, carried }: Prepared): void {
  const { made } = target;
  if (made === undefined) return;
  let entries = carried?.count ?? 0;
  for (const entry of plan.entries) if (isAdded(entry)) entries++;
  if (entries > made.spec.maxEntries) throw tooSmall(target);
}

/** The new map, which nobody has seen, was full before everything was in it. @throws the error, in the words of the restore */
export function rethrow(error: unknown, target: RestoreTarget): never {
  const isFull = error instanceof FailedError && error.code === 'MAP_FULL';
  throw isFull && target.made !== undefined ? tooSmall(target, error) : error;
}

function tooSmall({ pin, made }: RestoreTarget, cause?: FailedError): FailedError {
  const maxEntries = made?.spec.maxEntries ?? 0;
  return new FailedError(
    `Cannot fill the new map for ${pin}: it has room for ${maxEntries} entries, and more go into it`,
    {
      code: 'NEW_MAP_TOO_SMALL',
      hint: 'nothing was changed; make it larger with --max-entries, by default it is as large as the old one',
      operands: { path: pin, maxEntries },
      cause,
    },
  );
}
