/** Everything that a running loop consists of. */
import type { Ipcache } from '../cache/ipcache.ts';
import type { CachingAllocator } from '../identity/caching-allocator.ts';
import type { State } from '../state/state.ts';
import type { Auditor } from './auditor.ts';
import type { Collector } from './collector.ts';
import type { Keeper } from './keeper.ts';
import type { MapFollower } from './map-follower.ts';
import type { Releaser } from './releaser.ts';
import type { SourceGroup } from './source-group.ts';

export interface LoopParts {
  readonly state: State;
  readonly cache: Ipcache;
  readonly allocator: CachingAllocator;
  readonly follower: MapFollower;
  readonly keeper: Keeper;
  readonly sources: SourceGroup;
  readonly releaser: Releaser;
  readonly auditor: Auditor;
  readonly collector: Collector;
}
