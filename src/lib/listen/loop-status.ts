/** What can be asked of a running loop, as the JSON that `ipc status` and the control socket show. */
import type { WriterCounts } from '../datapath/writer-counts.ts';
import type { AgentLoop } from './agent-loop.ts';
import { timeText } from './clock.ts';
import type { Phase, SourceCondition } from './loop-event.ts';
import type { SourceFeed } from './source-feed.ts';

export interface LoopStatus {
  readonly time: string;
  readonly pid: number;
  readonly started: string;
  readonly phase: Phase;
  /** The sources are complete, and the map has what they said. */
  readonly ready: boolean;
  readonly clusterName?: string;
  /** Absent until the map is open. */
  readonly map?: {
    readonly id: number;
    readonly pin: string;
    readonly layout: string;
    readonly maxEntries: number;
    /** How often another map was found under the pin. */
    readonly replaced: number;
  };
  /** In the cache, shadowed ones included. */
  readonly entries: number;
  readonly identities: number;
  /** Prefixes that wait to be resolved. */
  readonly queued: number;
  /** Changes that the map does not have yet. */
  readonly pending: number;
  /** Why they wait, where a write failed. */
  readonly stall?: string;
  readonly badLines: number;
  readonly sources: readonly SourceStatus[];
  readonly restore?: RestoreStatus;
  readonly writes?: Readonly<WriterCounts>;
  readonly checkpoint: { readonly time?: string; readonly failures: number };
  readonly foreign: { readonly changes: number; readonly reasserted: number; readonly givenUp: number };
  readonly gc: {
    readonly runs: number;
    readonly failures: number;
    readonly deleted: number;
    readonly lastRun?: string;
  };
}

export interface SourceStatus {
  readonly name: string;
  readonly reference: string;
  readonly rank: string;
  readonly condition: SourceCondition;
  readonly reason?: string;
  readonly synced?: string;
  readonly events: number;
  readonly rejected: Readonly<Record<string, number>>;
  readonly staleDeletes: number;
}

export interface RestoreStatus {
  readonly restored: number;
  readonly placeholders: number;
  readonly graceMs: number;
  /** When the placeholders end; absent while the sources are not synced. */
  readonly releaseAt?: string;
  readonly released?: string;
}

export function loopStatus(loop: AgentLoop): LoopStatus {
  const { setup, parts, phase, isReady, badLines } = loop;
  const { clock, pid } = setup;
  const shared = {
    time: timeText(clock.now()),
    pid,
    started: timeText(loop.started),
    phase,
    ready: isReady,
    ...(setup.clusterName !== undefined && { clusterName: setup.clusterName }),
    badLines,
  };
  if (parts === undefined) {
    return {
      ...shared,
      entries: 0,
      identities: 0,
      queued: 0,
      pending: 0,
      sources: [],
      checkpoint: { failures: 0 },
      foreign: { changes: 0, reasserted: 0, givenUp: 0 },
      gc: { runs: 0, failures: 0, deleted: 0 },
    };
  }
  const { cache, allocator, follower, keeper, sources, releaser, auditor, collector } = parts;
  const { writer, guard, layout, map } = follower;
  const { restored, placeholders } = releaser.facts;
  return {
    ...shared,
    map: {
      id: map.info.id,
      pin: setup.pin,
      layout: layout.name,
      maxEntries: map.info.maxEntries,
      replaced: guard.replacements,
    },
    entries: cache.entries.size,
    identities: allocator.size,
    queued: cache.queueLength,
    pending: writer.pending,
    ...(writer.stall !== undefined && { stall: writer.stall }),
    sources: sources.members.map(({ source, reference, feed }) => sourceStatus(source.rank, reference, feed)),
    ...(restored !== undefined && {
      restore: {
        restored: restored.summary.restored ?? 0,
        placeholders: placeholders.length,
        graceMs: restored.graceMs,
        ...(releaser.dueAt !== undefined && { releaseAt: timeText(releaser.dueAt) }),
        ...(restored.released !== undefined && { released: restored.released }),
      },
    }),
    writes: { ...writer.counts },
    checkpoint: {
      ...(keeper.writtenAt !== undefined && { time: timeText(keeper.writtenAt) }),
      failures: keeper.failures,
    },
    foreign: auditor.counts,
    gc: collector.counts,
  };
}

function sourceStatus(rank: string, reference: string, feed: SourceFeed): SourceStatus {
  return {
    name: feed.name,
    reference,
    rank,
    condition: feed.condition,
    ...(feed.reason !== undefined && { reason: feed.reason }),
    ...(feed.syncedAt !== undefined && { synced: timeText(feed.syncedAt) }),
    events: feed.events,
    rejected: Object.fromEntries(feed.rejected),
    staleDeletes: feed.staleDeletes,
  };
}
