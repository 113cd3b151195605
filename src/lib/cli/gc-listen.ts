/** `ipc gc` on the map of a running `ipc listen`: the loop is the only writer of its map, so it collects, told how. */
import type { PlanItem } from '../change/plan-item.ts';
import { RefusedError, UnreachableError } from '../errors.ts';
import { type DeleteLimit, formatDeleteLimit } from '../gc/delete-limit.ts';
import { explainPrefix } from '../ipcache/explain-prefix.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { parsePrefix } from '../net/prefix.ts';
import { entryWords } from '../output/entry-words.ts';
import type { PlanModel } from '../output/plan-view.ts';
import { checkOwner } from '../owner/check-owner.ts';
import { AgentClient, IPC_LISTEN } from '../sources/agent/agent-client.ts';
import { askCollection, type CollectedItem, type CollectionAnswer } from '../sources/listen/ask-collection.ts';
import { askControl } from './ask-control.ts';
import { type GcWords, gcWords, keptItem, staleItem } from './gc-items.ts';
import { MOST_EXPLAINED, MOST_SHOWN } from './gc-run.ts';
import type { SharedValues } from './shared-flags.ts';
import { type DesiredChoice, noDesiredState } from './use-desired.ts';
import { useIpcache } from './use-ipcache.ts';
import { type UseOwner, useOwner } from './use-owner.ts';

export interface GcListenOptions extends Omit<UseOwner, 'map' | 'shared'> {
  readonly choice: DesiredChoice;
  readonly shared: SharedValues;
  /** Where it is when the reference has no socket; empty: nowhere. */
  readonly socket: string;
  readonly tunnels: readonly string[];
  readonly limit: DeleteLimit;
  readonly confirmMs: number;
  readonly rate: number | undefined;
  readonly timeoutMs: number;
  readonly dryRun: boolean;
  readonly allItems: boolean;
  readonly tcBpfMnt: string | undefined;
  readonly signal: AbortSignal;
}

interface RunningListen {
  readonly socket: string;
  readonly id: number;
  readonly pin: string;
}

/**
 * @returns undefined when this is not for a loop to do: another desired state, or a map that is not the loop's
 * @throws {UsageError} NO_DESIRED_STATE: none was named, and no loop runs here that keeps this map
 * @throws {UnreachableError} the loop that was named does not answer, or has no map yet
 * @throws {RefusedError} what its guards say
 */
export async function collectByListen(options: GcListenOptions): Promise<PlanModel | undefined> {
  const { choice, shared, tcBpfMnt, logger, signal } = options;
  const listen = await findListen(options);
  if (listen === undefined) return undefined;
  const map = shared.map ?? (choice.isImplied ? listen.pin : undefined);
  using ipcache = await useIpcache({ shared: { ...shared, map }, tcBpfMnt, logger, signal });
  if (ipcache.map.info.id !== listen.id) {
    if (!choice.isImplied) return undefined;
    throw noDesiredState(`the running ipc listen keeps ${listen.pin}, not ${ipcache.map.label}`);
  }
  if (choice.orphans) {
    throw new RefusedError(
      `Cannot look for orphans in ${ipcache.map.label}: a running ipc listen gives its numbers away`,
      {
        code: 'OWNED_BY_LISTEN',
        hint: 'leave out --orphans: what the loop does not have is collected',
      },
    );
  }
  const ownership = await useOwner({ ...options, map: ipcache.map });
  const refusal = checkOwner('gc', ipcache.map.label, ownership);
  if (refusal !== undefined) throw refusal;
  const client = new AgentClient(listen.socket, IPC_LISTEN);
  const { limit, confirmMs, rate, tunnels, dryRun, allItems } = options;
  const maxDelete = formatDeleteLimit(limit);
  logger.info(`asking ipc listen at ${listen.socket}, which reads its cache twice, ${confirmMs / 1000} s apart`);
  const answer = await askCollection(client, { dryRun, maxDelete, confirmMs, rate, tunnels, signal });
  const words = gcWords([choice.ref?.name ?? 'listen'], { confirmMs, tunnels });
  const items = await itemsOf(answer, { ipcache, words, allItems, signal });
  const { id, path: pin } = { id: ipcache.map.info.id, path: ipcache.map.path };
  const { programs, unseen } = ownership.evidence;
  return {
    map: {
      id,
      ...(pin !== undefined && { pin }),
      layout: ipcache.layout.name,
      owner: ownership.owner,
      programs: programs.length === 0 && unseen.length > 0 ? null : programs.length,
    },
    complete: answer.left === 0,
    changed: answer.counts.deleted > 0,
    dryRun,
    summary: summaryOf(answer),
    items,
    warnings: warningsOf(answer),
    shown: allItems ? undefined : MOST_SHOWN,
    backup: answer.backup,
  };
}

/** In the order of a run without a loop. */
function summaryOf({ counts }: CollectionAnswer): PlanModel['summary'] {
  const { entries, stale, deleted, ...others } = counts;
  return { entries, stale, deleted, kept: entries - deleted, ...others };
}

async function findListen({ choice, socket, timeoutMs }: GcListenOptions): Promise<RunningListen | undefined> {
  const { ref, isImplied } = choice;
  if (ref?.target.kind !== 'listen') return undefined;
  const path = ref.target.socket ?? socket;
  const status = path === '' ? undefined : await askControl(path, '/ipc/v1/status', timeoutMs);
  if (status === undefined) {
    if (isImplied) throw noDesiredState('nothing says what the map should have, and no ipc listen runs here');
    throw new UnreachableError(`Cannot ask ipc listen at ${path}: nobody listens there`, {
      code: 'LISTEN_UNREACHABLE',
      hint: IPC_LISTEN.hint,
      operands: { path },
    });
  }
  // Whatever listens there may answer anything.
  const { map } = (status ?? {}) as { readonly map?: { readonly id?: unknown; readonly pin?: unknown } | null };
  if (typeof map?.id === 'number' && typeof map.pin === 'string') return { socket: path, id: map.id, pin: map.pin };
  throw new UnreachableError(`Cannot ask ipc listen at ${path}: it has no map yet`, {
    code: 'SOURCE_NOT_SYNCED',
    hint: 'wait until ipc status says that it is ready',
    operands: { path },
  });
}

interface ItemContext {
  readonly ipcache: IpcacheMap;
  readonly words: GcWords;
  readonly allItems: boolean;
  readonly signal: AbortSignal;
}

async function itemsOf({ items }: CollectionAnswer, context: ItemContext): Promise<PlanItem[]> {
  const { words, allItems } = context;
  const fallsTo = await explain(items, context);
  return items.flatMap((item): PlanItem[] => {
    const { prefix, outcome, kept } = item;
    if (outcome !== undefined) return [staleItem({ ...item, fallsTo: fallsTo.get(prefix) }, outcome, words)];
    return allItems && kept !== undefined ? [keptItem(item, kept)] : [];
  });
}

/** What answers for each prefix that is gone, or would be. */
async function explain(
  items: readonly CollectedItem[],
  { ipcache, signal }: ItemContext,
): Promise<ReadonlyMap<string, string>> {
  const going = new Set(
    items.filter(({ outcome }) => outcome === 'deleted' || outcome === 'planned').map(({ prefix }) => prefix),
  );
  const fallsTo = new Map<string, string>();
  if (going.size > MOST_EXPLAINED) return fallsTo;
  for (const prefix of going) {
    const { chain } = await explainPrefix(ipcache.map, ipcache.layoutChoice, parsePrefix(prefix), signal);
    const next = chain.find(({ entry }) => !going.has(entry.prefix));
    if (next !== undefined) fallsTo.set(prefix, entryWords(next.entry));
  }
  return fallsTo;
}

function warningsOf({ backup }: CollectionAnswer): string[] {
  if (backup === undefined) return [];
  return [`while ipc listen runs only it writes the map: give it what should come back; the bytes are in ${backup}`];
}
