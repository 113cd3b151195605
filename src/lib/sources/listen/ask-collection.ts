/** Has a running `ipc listen` collect the garbage of its own map, which nobody else may write. */
import type { AgentClient } from '../agent/agent-client.ts';
import { visitObjects } from '../agent/visit-objects.ts';

export interface CollectionRequest {
  readonly dryRun: boolean;
  /** As `--max-delete` has it. */
  readonly maxDelete: string;
  readonly confirmMs: number;
  readonly rate?: number | undefined;
  readonly tunnels: readonly string[];
  readonly signal: AbortSignal;
}

export interface CollectedItem {
  readonly prefix: string;
  readonly identity: number;
  /** What came of a stale entry. */
  readonly outcome?: 'planned' | 'deleted' | 'changed' | 'absent' | 'left' | 'raced';
  /** Why an entry that nobody wants stays. */
  readonly kept?: string;
}

export interface CollectionAnswer {
  readonly items: readonly CollectedItem[];
  readonly counts: Readonly<
    Record<'entries' | 'stale' | 'deleted' | 'skipped' | 'raced' | 'withdrawn' | 'conflicts', number>
  >;
  /** How many were not deleted any more. */
  readonly left: number;
  /** A file of the state directory of the loop. */
  readonly backup?: string;
}

/**
 * @param client of the kind `IPC_LISTEN`
 * @throws what the loop answers: RefusedError, UsageError …
 * @throws as AgentClient.read; {MalformedError} the answer has no end
 */
export async function askCollection(client: AgentClient, request: CollectionRequest): Promise<CollectionAnswer> {
  const { dryRun, maxDelete, confirmMs, rate, tunnels, signal } = request;
  const query = new URLSearchParams({ items: 'true', dryRun: String(dryRun), maxDelete, confirmMs: String(confirmMs) });
  if (rate !== undefined) query.set('rate', String(rate));
  if (tunnels.length > 0) query.set('tunnel', tunnels.join(','));
  const path = `/gc?${query}`;
  const items: CollectedItem[] = [];
  let end: Readonly<Record<string, unknown>> | undefined;
  const visit = (object: Readonly<Record<string, unknown>>): void => {
    if (object.end === true) end = object;
    else items.push(object as unknown as CollectedItem);
  };
  // It answers when all is done, however long that takes.
  await visitObjects(client, { path, depth: 1, visit }, { method: 'POST', signal });
  if (end === undefined) throw client.malformed('/gc', 'it has no end');
  const count = (name: string): number => Number(end?.[name] ?? 0);
  const { backup } = end;
  return {
    items,
    counts: {
      entries: count('entries'),
      stale: count('stale'),
      deleted: count('deleted'),
      raced: count('raced'),
      withdrawn: count('withdrawn'),
      skipped: count('skipped'),
      conflicts: count('conflicts'),
    },
    left: count('left'),
    ...(typeof backup === 'string' && { backup }),
  };
}
