/** How `snapshot` and `diff` come from an open map to all of its entries with labels. */
import * as Flags from '@oclif/core/flags';
import { ToolError } from '../errors.ts';
import { DEFAULT_CHECKPOINT_PATH } from '../identity/checkpoint.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import type { SnapshotIdentity } from '../snapshot/lines.ts';
import { type LiveSnapshot, takeSnapshot } from '../snapshot/live-snapshot.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { readCheckpoint } from '../state/read-checkpoint.ts';
import { isSamePin } from '../state/same-pin.ts';
import type { Log } from './log.ts';
import { pause } from './pause.ts';
import { Progress } from './progress.ts';
import type { Runtime } from './runtime.ts';
import type { SharedValues } from './shared-flags.ts';

/** The name of the cluster stands in no map. */
export const clusterNameFlag = Flags.string({ summary: 'name of the cluster, for the header', helpValue: 'NAME' });

export interface TakeLive {
  readonly flags: {
    readonly 'allocator-state'?: string | undefined;
    readonly labels: boolean;
    readonly 'cluster-name'?: string | undefined;
  };
  readonly shared: Pick<SharedValues, 'state-dir'>;
  readonly runtime: Runtime;
  readonly logger: Log;
  readonly signal: AbortSignal;
  /** How long to wait for the checkpoint to have all numbers; by default as long as the agent may take. */
  readonly patienceMs?: number | undefined;
}

/**
 * Reads the map. A checkpoint that cannot be read costs the labels and a warning, never the entries.
 * @throws what the walk throws
 */
export async function takeLive(ipcache: IpcacheMap, options: TakeLive): Promise<LiveSnapshot> {
  const { flags, shared, runtime, logger, signal, patienceMs } = options;
  const path = flags['allocator-state'] ?? DEFAULT_CHECKPOINT_PATH;
  const progress = new Progress({ runtime, logger, unit: 'entries', most: ipcache.map.info.maxEntries });
  const take = (allocatorState: string | undefined): Promise<LiveSnapshot> =>
    takeSnapshot(ipcache, {
      signal,
      onProgress: (seen) => progress.update(seen),
      facts: readMachineFacts(),
      cluster: flags['cluster-name'],
      allocatorState,
      more: flags.labels ? ownIdentities(ipcache, shared['state-dir'], logger) : [],
      now: runtime.now,
      pause: (ms) => pause(ms, signal),
      patienceMs,
      onWait: (missing) => logger.info(`waiting for the agent to write ${missing} identities of the map to ${path}`),
    });
  try {
    const live = flags.labels
      ? await takeJoined(take, { path, named: flags['allocator-state'] !== undefined, logger })
      : await take(undefined);
    // What was read until a signal came is no snapshot, not even an incomplete one.
    signal.throwIfAborted();
    return live;
  } finally {
    progress.end();
  }
}

async function takeJoined(
  take: (allocatorState: string | undefined) => Promise<LiveSnapshot>,
  { path, named, logger }: { readonly path: string; readonly named: boolean; readonly logger: Log },
): Promise<LiveSnapshot> {
  try {
    const live = await take(path);
    if (live.noCheckpoint && named) logger.warn(`no labels joined: there is no file ${path}`);
    return live;
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'BAD_CHECKPOINT') throw error;
    logger.warn(`no labels joined: ${error.message}`, error.operands);
    return take(undefined);
  }
}

/** What `ipc` itself allocated or knows, where the map is one that it keeps. A guess must not become knowledge in a file. */
function ownIdentities({ map }: IpcacheMap, stateDirectory: string, logger: Log): SnapshotIdentity[] {
  try {
    const state = readCheckpoint(stateDirectory);
    if (state === undefined || map.path === undefined || !isSamePin(state.pin, map.path)) return [];
    return state.identities.flatMap(({ identity, labels = [], labelsFrom }) =>
      labels.length === 0 || labelsFrom === 'guessed' ? [] : [{ identity, labels }],
    );
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    logger.debug(`no labels joined from the state directory: ${error.message}`);
    return [];
  }
}
