/** One prefix as the metadata and the injector see it. */
import type { Labels } from '../identity/labels.ts';
import type { Flattened, ResourceInfo } from './resource-info.ts';

export const NO_RESOURCES: readonly ResourceInfo[] = [];

/** No identity is held. */
export const HOLDS_NOTHING = -1;

export class PrefixState {
  /** The key of its entry in the cache, which is the prefix as text. */
  readonly key: string;
  /** Replaced, not changed, so that the usual single resource takes a list of one. */
  resources: readonly ResourceInfo[] = NO_RESOURCES;
  /** Undefined when no resource says anything. */
  flattened: Flattened | undefined = undefined;
  /** The flattened labels, at hand for everything inside the prefix; undefined until somebody asks. */
  inheritable: Labels | undefined = undefined;
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
