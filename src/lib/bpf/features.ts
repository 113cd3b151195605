/**
 * What this kernel can do, asked late and only to explain or to choose a way. A probe has three outcomes; only the two
 * conclusive ones are remembered, so that a probe that lacked a permission may be asked again.
 */
import { FEATURES, type FeatureName, type FeaturesOptions, type Finding } from './feature-probes.ts';

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
  async have(name: FeatureName): Promise<Feature> {
    const { title, minKernel, probe } = FEATURES[name];
    const finding = this.#known.get(name) ?? (await probe(this.#options));
    if (finding.outcome !== 'unknown') this.#known.set(name, finding);
    return { name, title, minKernel, ...finding };
  }

  /** Every feature, in a fixed order. */
  async all(): Promise<Feature[]> {
    const features: Feature[] = [];
    for (const name of Object.keys(FEATURES) as FeatureName[]) features.push(await this.have(name));
    return features;
  }
}
