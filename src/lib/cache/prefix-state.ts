/** One prefix as the metadata and the injector see it. */
import type { Flattened, ResourceInfo } from './resource-info.ts';

/** No identity is held. */
export const HOLDS_NOTHING = -1;

export class PrefixState {
  /** The key of its entry in the cache, which is the prefix as text. */
  readonly key: string;
  /** Replaced, not changed, so that the usual single resource takes a list of one. */
  resources: readonly ResourceInfo[] = [];
  /** Undefined when no resource says anything. */
  flattened: Flattened | undefined = undefined;
  /** The disagreements that were reported, as text. */
  conflicts: readonly string[] | undefined = undefined;
  /** Whether the prefix waits to be resolved. */
  queued = false;
  /** The identity on which this prefix holds a reference. */
  held = HOLDS_NOTHING;

  constructor(key: string) {
    this.key = key;
  }
}
