/** Everything that a running loop consists of. */
import type { Ipcache } from '../cache/ipcache.ts';
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import type { State } from '../state/state.ts';
import type { Auditor } from './auditor.ts';
import type { Collector } from './collector.ts';
import type { Keeper } from './keeper.ts';
import type { MapFollower } from './map-follower.ts';
import type { PreparedMap } from './prepare-map.ts';
import type { Releaser } from './releaser.ts';
import type { SourceGroup } from './source-group.ts';

export interface LoopParts {
  readonly state: State;
  readonly cache: Ipcache;
  readonly allocator: CachingAllocator;
  readonly follower: MapFollower;
  /** What the map had already when it was read; undefined: nothing. */
  readonly isInMap?: PreparedMap['isInMap'];
  readonly keeper: Keeper;
  readonly sources: SourceGroup;
  readonly releaser: Releaser;
  readonly auditor: Auditor;
  readonly collector: Collector;
}
