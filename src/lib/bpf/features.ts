/**
 * What this kernel can do, asked late and only to explain or to choose a way. A probe has three outcomes; only the two
 * conclusive ones are remembered, so that a probe that lacked a permission may be asked again.
 */
import type { Kernel } from '../native/kernel.ts';
import { FEATURE_NAMES, FEATURES, type FeatureName, type FeaturesOptions, type Finding } from './feature-probes.ts';

export interface Feature extends Finding {
  readonly name: FeatureName;
  /** What it is, in words that follow *this kernel has no*. */
  readonly title: string;
  /** The first kernel that has it, `6.13`. */
  readonly minKernel: string;
}

export class Features {
  readonly #options: FeaturesOptions;
  readonly #known = new Map<FeatureName, Finding>();

  constructor(options: FeaturesOptions) {
    this.#options = options;
  }

  /** Probes, or remembers. Never throws: what cannot be found out is `unknown`. */
  have(name: FeatureName): Feature {
    const { title, minKernel, probe } = FEATURES[name];
    const finding = this.#known.get(name) ?? probe(this.#options);
    if (finding.outcome !== 'unknown') this.#known.set(name, finding);
    return { name, title, minKernel, ...finding };
  }

  /** Every feature, in a fixed order. */
  all(): Feature[] {
    return FEATURE_NAMES.map((name) => this.have(name));
  }
}

const byKernel = new WeakMap<Kernel, Features>();

/** What this kernel was found to have, shared by everyone who asks; probes that need a pin directory are `unknown`. */
export function featuresOf(kernel: Kernel): Features {
  let features = byKernel.get(kernel);
  if (features === undefined) {
    features = new Features({ kernel });
    byKernel.set(kernel, features);
  }
  return features;
}

/**
 * Whether next-key of an absent key of an LPM trie starts over, so that a listed key is proved by asking for what
 * follows it (Linux 6.13 and later stable kernels). @returns undefined where that could not be found out.
 */
export function haveNextKeyRestart(kernel: Kernel): boolean | undefined {
  const { outcome } = featuresOf(kernel).have('lpmNextKey');
  return outcome === 'unknown' ? undefined : outcome === 'available';
}
