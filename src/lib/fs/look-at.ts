import { type BigIntStats, type Stats, statSync } from 'node:fs';

/**
 * What stands at a path, as far as one can see; for deciding how to open it, which then says what is wrong with it.
 * @returns undefined where there is nothing, and where nothing can be seen: a part of the path is no directory, or may
 * not be searched
 */
export function lookAt(path: string): Stats | undefined {
  return unlessFailing(() => statSync(path));
}

/** As `lookAt`, with times in nanoseconds. */
export function lookAtExactly(path: string): BigIntStats | undefined {
  return unlessFailing(() => statSync(path, { bigint: true }));
}

function unlessFailing<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    // `throwIfNoEntry: false` would still throw for ENOTDIR, EACCES and ELOOP.
    return undefined;
  }
}
