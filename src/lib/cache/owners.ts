/** Every owner that has ever spoken, one object each. There are as many as sources, so they are never forgotten. */
import { METADATA_OWNER, type Owner } from './layer.ts';
import { sourceRank } from './source-rank.ts';

export class Owners {
  readonly #byName = new Map<string, Map<string, Owner>>();

  get(name: string, source: string): Owner {
    let bySource = this.#byName.get(name);
    if (bySource === undefined) {
      bySource = new Map();
      this.#byName.set(name, bySource);
    }
    let owner = bySource.get(source);
    if (owner === undefined) {
      owner = { name, source, rank: sourceRank(source) };
      bySource.set(source, owner);
    }
    return owner;
  }

  /** The metadata speaks with the source of its strongest resource. */
  metadata(source: string): Owner {
    return this.get(METADATA_OWNER, source);
  }
}
