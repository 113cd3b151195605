/** Who else has which prefixes: the sources of --claims, each read once and to its end. */
import { prefixTextOf } from '../cache/cache-key.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import type { Family } from '../net/address.ts';
import { formatPrefix, parsePrefix } from '../net/prefix.ts';
import type { ReadOptions, Source } from '../sources/source.ts';

export class Claims {
  readonly #sources: readonly Pick<Source, 'speaksFor'>[];
  readonly #claimants: ReadonlyMap<string, string>;
  /** Sources whose claims do not count yet, and why: they neither claim anything nor speak for anything. */
  readonly unsettled: readonly string[];

  constructor(
    sources: readonly Pick<Source, 'speaksFor'>[],
    claimants: ReadonlyMap<string, string>,
    unsettled: readonly string[] = [],
  ) {
    this.#sources = sources;
    this.#claimants = claimants;
    this.unsettled = unsettled;
  }

  /** Prefixes that somebody has. */
  get size(): number {
    return this.#claimants.size;
  }

  /** The name of a source that has the prefix. @returns undefined for none */
  claimant(prefix: string): string | undefined {
    return this.#claimants.get(prefix);
  }

  /** Whether it means anything that no source has such a prefix. */
  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#sources.some((source) => source.speaksFor(scope, family, clusterId));
  }
}

/**
 * Reads every source whose claims count. What it restored itself is no claim: a source's record of source `restored` is a placeholder too.
 * @throws {UnreachableError} a source cannot be reached or does not sync in time @throws {MalformedError}
 */
export async function readClaims(
  sources: readonly Pick<Source, 'name' | 'read' | 'speaksFor' | 'rank' | 'unsettled'>[],
  options: ReadOptions,
): Promise<Claims> {
  const claimants = new Map<string, string>();
  const counting: Pick<Source, 'speaksFor'>[] = [];
  const unsettled: string[] = [];
  for (const source of sources) {
    const why = await source.unsettled?.(options);
    if (why !== undefined) {
      unsettled.push(`claims of ${source.name} do not count yet: ${why}`);
      continue;
    }
    counting.push(source);
    await source.read((record) => {
      if (record.source === 'restored' && source.rank !== 'restored') return;
      const prefix = formatPrefix(parsePrefix(prefixTextOf(record.key)));
      if (!claimants.has(prefix)) claimants.set(prefix, source.name);
    }, options);
  }
  return new Claims(counting, claimants, unsettled);
}
