/** `ipc get --why`: asks whoever may know where an entry comes from and since when it is there. */
import { existsSync } from 'node:fs';
import * as Flags from '@oclif/core/flags';
import { ToolError, UsageError } from '../errors.ts';
import type { IpcacheEntry } from '../ipcache/entry.ts';
import { flagNames } from '../ipcache/flags.ts';
import { parseAddress } from '../net/address.ts';
import { formatPrefix, type Prefix } from '../net/prefix.ts';
import type { Why, WhyAgent, WhyHistory, WhyListen, WhyValue } from '../output/why-view.ts';
import { DEFAULT_AGENT_SOCKET } from '../owner/agent-socket.ts';
import { EntryRow } from '../snapshot/entry-row.ts';
import { readHistory } from '../snapshot/prefix-history.ts';
import { AgentClient, IPC_LISTEN } from '../sources/agent/agent-client.ts';
import { visitIps } from '../sources/agent/ip-list.ts';
import { readListenEntry } from '../sources/agent/listen-entry.ts';
import { readMapEvents } from '../sources/agent/map-events.ts';
import type { AgentMapValue } from '../sources/agent/map-value.ts';
import { parseSourceRef } from '../sources/source-ref.ts';
import { DEFAULT_CONTROL_SOCKET } from './control-socket.ts';
import { durationFlag } from './flags.ts';
import type { ValueSource } from './layered-values.ts';
import type { Log } from './log.ts';

/** Events of one prefix that are shown. */
const MOST_EVENTS = 10;

export const whyFlags = {
  why: Flags.boolean({ summary: 'say where the entry comes from and since when it is so' }),
  against: Flags.string({ summary: 'with --why: ask agent[:SOCKET] or listen[:SOCKET]', helpValue: 'SOURCE' }),
  history: Flags.string({
    summary: 'with --why: look into the snapshots of DIR',
    helpValue: 'DIR',
  }),
  timeout: durationFlag({
    summary: 'how long an agent may take to answer',
    default: 30_000,
    defaultHelp: async () => '30s',
  }),
};

export interface WhyOptions {
  readonly flags: {
    readonly why: boolean;
    readonly against?: string | undefined;
    readonly history?: string | undefined;
    readonly timeout: number;
  };
  readonly query: Prefix;
  /** The entry that answers. */
  readonly match: IpcacheEntry | undefined;
  readonly pin: string | undefined;
  /** The value of CILIUM_SOCK. */
  readonly agentSocket: string | undefined;
  readonly logger: Log;
  readonly signal: AbortSignal;
}

export interface WhyAnswer {
  readonly why: Why;
  /** Who could not be asked; the rest of the answer holds. */
  readonly failures: readonly ToolError[];
}

/** @throws {UsageError} for flags that only --why uses, and for --why with many addresses */
export function checkWhyFlags(
  { why }: WhyOptions['flags'],
  { many, sources }: { readonly many: boolean; readonly sources: ReadonlyMap<string, ValueSource> },
): void {
  // Elsewhere (a variable, the config file) they wait for the run that needs them.
  const useless = why ? undefined : ['against', 'history'].find((name) => sources.get(name)?.from === 'flag');
  if (useless !== undefined) {
    throw new UsageError(`Cannot use --${useless}: it needs --why`, { hint: 'add --why, or leave it out' });
  }
  if (!why || !many) return;
  throw new UsageError('Cannot use --why with -: the agent would be asked for every line', {
    hint: 'give one address, or a batch of them to ipc batch',
  });
}

/** @throws {UsageError} when --against names something that cannot know */
export async function askWhy(options: WhyOptions): Promise<WhyAnswer | undefined> {
  const { flags, match, query } = options;
  if (!flags.why) return undefined;
  const asked = flags.against === undefined ? undefined : askedOf(flags.against, options.agentSocket);
  const failures: ToolError[] = [];
  const attempt = async <T>(work: (() => Promise<T>) | undefined): Promise<T | undefined> => {
    try {
      return await work?.();
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failures.push(error);
      return undefined;
    }
  };
  const { history: directory } = flags;
  const listen =
    asked?.kind === 'listen' ? await attempt(() => askListen(asked.socket, options)) : await ownListen(options);
  const agent = await attempt(asked?.kind === 'agent' ? () => askAgent(asked.socket, options) : undefined);
  const history = await attempt(directory === undefined ? undefined : () => askHistory(directory, options));
  const prefix = match?.prefix ?? formatPrefix(query);
  return { why: { prefix, ...(listen && { listen }), ...(agent && { agent }), ...(history && { history }) }, failures };
}

interface Asked {
  readonly kind: 'agent' | 'listen';
  readonly socket: string;
}

function askedOf(text: string, variable: string | undefined): Asked {
  const { target } = parseSourceRef(text);
  if (target.kind === 'agent') return { kind: 'agent', socket: target.socket ?? variable ?? DEFAULT_AGENT_SOCKET };
  if (target.kind === 'listen') return { kind: 'listen', socket: target.socket ?? DEFAULT_CONTROL_SOCKET };
  throw new UsageError(`Cannot ask ${text} why an entry is there: it does not keep that`, {
    code: 'BAD_SOURCE',
    hint: 'ask agent[:SOCKET] or listen[:SOCKET]; snapshots are looked into with --history DIR',
    operands: { source: text },
  });
}

/** The `ipc listen` of this node, when there is one and it keeps this map; nobody asked for it by name. */
async function ownListen(options: WhyOptions): Promise<WhyListen | undefined> {
  if (!existsSync(DEFAULT_CONTROL_SOCKET)) return undefined;
  try {
    return await askListen(DEFAULT_CONTROL_SOCKET, options, options.pin);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    options.logger.warn(error.message, error.operands);
    return undefined;
  }
}

/** @param pin only when it keeps this one */
async function askListen(socket: string, { flags, match, query, signal }: WhyOptions, pin?: string) {
  const prefix = match?.prefix ?? formatPrefix(query);
  const request = { signal, timeoutMs: flags.timeout };
  const told = await readListenEntry(new AgentClient(socket, IPC_LISTEN), prefix, request);
  if (pin !== undefined && told.pin !== pin) return undefined;
  const { identity, source, pod, hostIP, resources, since, sinceStart } = told.entry ?? { identity: null };
  return { socket, identity, source, pod, hostIP, resources, since, sinceStart };
}

async function askAgent(socket: string, { flags, match, query, pin, signal }: WhyOptions): Promise<WhyAgent> {
  const client = new AgentClient(socket);
  const request = { signal, timeoutMs: flags.timeout };
  const prefix = match?.prefix ?? formatPrefix(query);
  const events = await readMapEvents(client, { prefix, pin, most: MOST_EVENTS }, request);
  const shown =
    events?.map(({ value, ...event }) => ({ ...event, ...(value && { value: agentValue(value) }) })) ?? null;
  // The list of addresses knows no clusters, and keys that are no prefixes are not in it.
  const { clusterId = 0 } = match?.canonical ?? query;
  if (clusterId !== 0 || (match !== undefined && match.canonical === undefined)) return { socket, events: shown };
  let told: Omit<WhyAgent, 'socket' | 'events'> = { identity: null };
  await visitIps(
    client,
    {
      within: prefix,
      visit({ prefix: listed, identity, source, pod, hostIP }) {
        if (listed !== prefix) return;
        told = { identity, ...(source && { source }), ...(pod && { pod }), ...(hostIP && { hostIP }) };
      },
    },
    request,
  );
  return { socket, ...told, events: shown };
}

async function askHistory(directory: string, { match, query, logger, signal }: WhyOptions): Promise<WhyHistory> {
  const present = rowOf(match, query);
  const history = await readHistory({ directory, present, absent: match === undefined, signal });
  const { read, newest, by, after, before, skipped } = history;
  for (const { file, reason } of skipped) logger.warn(`snapshot ${file} is left out: ${reason}`, { file });
  return {
    directory,
    snapshots: read,
    skipped: skipped.length,
    newest,
    by,
    after,
    ...(after !== undefined && { before: before === undefined ? null : valueOfRow(before) }),
  };
}

/** The entry as a snapshot would have it. */
function rowOf(match: IpcacheEntry | undefined, query: Prefix): EntryRow {
  const row = new EntryRow();
  const prefix = match === undefined ? query : match.canonical;
  if (prefix === undefined) row.setRawKey(match?.prefix ?? '');
  else row.setPrefix(prefix.family, prefix.clusterId, prefix.address, prefix.length);
  if (match === undefined) return row;
  row.identity = match.identity;
  row.encryptKey = match.encryptKey;
  row.flags = match.flags;
  const tunnel = parseAddress(match.tunnelEndpoint ?? '');
  if (tunnel !== undefined) {
    row.tunnel.set(tunnel);
    row.tunnelBytes = tunnel.length === 4 ? 4 : 16;
  }
  return row;
}

function agentValue({ identity, tunnelEndpoint, encryptKey, flags }: AgentMapValue): WhyValue {
  return { identity, tunnelEndpoint, encryptKey, flags: flagNames(flags) };
}

function valueOfRow(row: EntryRow): WhyValue {
  return agentValue({
    identity: row.identity,
    encryptKey: row.encryptKey,
    flags: row.flags,
    ...(row.tunnelBytes > 0 && { tunnelEndpoint: row.tunnelText() ?? '' }),
  });
}
