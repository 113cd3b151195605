/** Joins labels to numbers in every view, and says where they came from. */
import type { Labels } from './labels.ts';
import { MIN_GLOBAL } from './numeric-identity.ts';
import { DEFAULT_IDENTITY_OPTIONS } from './options.ts';
import { IDENTITY_UNKNOWN } from './reserved.ts';
import { ReservedIdentities } from './reserved-identities.ts';

/** The last one means: computed from the prefix, known to nobody. */
export type LabelsFrom = 'reserved' | 'allocator' | 'snapshot' | 'listen' | 'agent' | 'guessed';

/** Something that knows the labels of some numbers. */
export interface LabelSource {
  readonly from: LabelsFrom;
  lookup(id: number): Labels | undefined;
}

export interface ResolvedLabels {
  /** `source:key=value` (or `source:key`), by bytes of the keys. */
  readonly labels: readonly string[];
  readonly labelsFrom: LabelsFrom;
}

/** The list of a view and of JSON: canonical order, which is that of the map keys. */
export function canonicalLabels(labels: Labels): string[] {
  return labels.texts();
}

/** Asks its sources in order; fixed numbers come first and need none. */
export class LabelResolver {
  readonly #sources: readonly LabelSource[];

  constructor(sources: readonly LabelSource[]) {
    this.#sources = [reservedSource(), ...sources];
  }

  /** The set itself. @returns undefined where nobody knows it */
  find(id: number): { readonly labels: Labels; readonly labelsFrom: LabelsFrom } | undefined {
    for (const source of this.#sources) {
      const labels = source.lookup(id);
      if (labels !== undefined) return { labels, labelsFrom: source.from };
    }
    return undefined;
  }

  /** As printed. Bound, so that it can be handed out by itself. @returns undefined where nobody knows them */
  readonly resolve = (id: number): ResolvedLabels | undefined => {
    const found = this.find(id);
    return found && { labels: canonicalLabels(found.labels), labelsFrom: found.labelsFrom };
  };
}

function reservedSource(): LabelSource {
  let reserved: ReservedIdentities | undefined;
  return {
    from: 'reserved',
    lookup(id) {
      if (id >= MIN_GLOBAL || id === IDENTITY_UNKNOWN) return undefined;
      reserved ??= new ReservedIdentities(DEFAULT_IDENTITY_OPTIONS);
      return reserved.lookupById(id)?.labels;
    },
  };
}
