/** How the answer to `ipc get --why` looks: where an entry comes from and since when it is what it is. */
import { escapeText } from './escape.ts';
import type { JsonObject } from './view.ts';

export interface WhyValue {
  readonly identity: number;
  readonly tunnelEndpoint?: string | undefined;
  readonly encryptKey: number;
  readonly flags: readonly string[];
}

export interface WhyEvent {
  /** RFC 3339. */
  readonly time: string;
  readonly action: string;
  readonly value?: WhyValue;
  /** Why it did not reach the kernel. */
  readonly error?: string;
}

/** What an agent said. */
export interface WhyAgent {
  readonly socket: string;
  /** What it takes the prefix for; null when it does not know it, absent when it could not be asked about it. */
  readonly identity?: number | null;
  readonly source?: string;
  readonly pod?: { readonly namespace: string; readonly name: string };
  readonly hostIP?: string;
  /** The oldest first; null when it keeps none. */
  readonly events: readonly WhyEvent[] | null;
}

/** What a running `ipc listen` said. */
export interface WhyListen {
  readonly socket: string;
  /** What it wants the prefix to be; null when it does not know it. */
  readonly identity: number | null;
  readonly source?: string | undefined;
  readonly pod?: { readonly namespace: string; readonly name: string } | undefined;
  readonly hostIP?: string | undefined;
  /** Whose metadata the prefix has. */
  readonly resources?: readonly WhyResource[] | undefined;
  /** Since when it is what it is, to the second; RFC 3339. */
  readonly since?: string | undefined;
  /** It was so when the run began, and perhaps before. */
  readonly sinceStart?: boolean | undefined;
}

export interface WhyResource {
  readonly resource: string;
  readonly source: string;
  readonly labels?: readonly string[];
}

/** What the snapshots of a directory say. */
export interface WhyHistory {
  readonly directory: string;
  /** How many could be asked, and how many could not. */
  readonly snapshots: number;
  readonly skipped: number;
  readonly newest?: string | undefined;
  /** The oldest one that has the present value. */
  readonly by?: string | undefined;
  /** The one before, with another value. */
  readonly after?: string | undefined;
  /** What it was in that one; null when the prefix was not there. */
  readonly before?: WhyValue | null;
}

export interface Why {
  /** Which entry this is about. */
  readonly prefix: string;
  readonly listen?: WhyListen;
  readonly agent?: WhyAgent;
  readonly history?: WhyHistory;
}

const UNKNOWN = 'the map keeps no times';

/** Who saw the change itself goes first; a snapshot that had the value already knows better than a run that began later. */
function lastChangeOf({ listen, agent, history }: Why): JsonObject | undefined {
  const event = agent?.events?.at(-1);
  if (event !== undefined) return { from: 'agent', time: event.time, action: event.action };
  const { since, sinceStart = false } = listen ?? {};
  const isOlder = sinceStart && since !== undefined && history?.by !== undefined && history.by < since;
  if (since !== undefined && !isOlder) return { from: 'listen', time: since, ...(sinceStart && { atStart: true }) };
  return history?.after === undefined ? undefined : { from: 'history', after: history.after, by: history.by };
}

/** The fields of `why`. */
export function whyJson(why: Why): JsonObject {
  const { prefix, listen, agent, history } = why;
  const lastChange = lastChangeOf(why);
  const before = beforeOf(why);
  return {
    prefix,
    source: listen?.source ?? agent?.source,
    resource: resourceOf(listen),
    pod: listen?.pod ?? agent?.pod,
    hostIP: listen?.hostIP ?? agent?.hostIP,
    lastChange,
    ...(before !== undefined && { before }),
    listen: listen && {
      socket: listen.socket,
      identity: listen.identity,
      resources: listen.resources,
      since: listen.since,
    },
    agent: agent && { socket: agent.socket, identity: agent.identity, events: agent.events },
    history,
    ...(lastChange === undefined && { unknown: UNKNOWN }),
  };
}

/** Lines for people. */
export function* whyLines(why: Why): Iterable<string> {
  const { prefix, listen, agent, history } = why;
  yield '';
  yield `why ${prefix} is what it is:`;
  const told = [...listenLines(listen), ...agentLines(agent), ...historyLines(history)];
  yield* told.map((line) => `  ${escapeText(line)}`);
  if (whyJson(why).lastChange === undefined) yield `  last change unknown: ${UNKNOWN}`;
}

function* listenLines(listen: WhyListen | undefined): Iterable<string> {
  if (listen === undefined) return;
  if (listen.identity === null) yield 'listen: does not know this prefix';
  else yield `listen: identity ${[listen.identity, ...originWords(listen)].join(', ')}`;
  for (const { resource, source, labels } of listen.resources ?? []) {
    yield `listen: ${resource} (${source})${labels === undefined ? '' : ` ${labels.join(' ')}`}`;
  }
  if (listen.since === undefined) return;
  yield `listen: so since ${listen.since}${listen.sinceStart ? ', as it was told when it began; perhaps before' : ''}`;
}

function originWords({ source, pod, hostIP }: Pick<WhyAgent | WhyListen, 'source' | 'pod' | 'hostIP'>): string[] {
  return [
    ...(source === undefined ? [] : [`source ${source}`]),
    ...(pod === undefined ? [] : [`pod ${pod.namespace}/${pod.name}`]),
    ...(hostIP === undefined ? [] : [`on ${hostIP}`]),
  ];
}

/** The resource that the winning source stands for. */
function resourceOf(listen: WhyListen | undefined): string | undefined {
  const resources = listen?.resources ?? [];
  return (resources.find(({ source }) => source === listen?.source) ?? resources[0])?.resource;
}

function* agentLines(agent: WhyAgent | undefined): Iterable<string> {
  if (agent === undefined) return;
  const { identity, events } = agent;
  if (identity === null) yield 'agent: does not know this prefix';
  else if (identity !== undefined) yield `agent: identity ${[identity, ...originWords(agent)].join(', ')}`;
  if (events === null) yield 'agent: keeps no events of the map';
  else if (events.length === 0) yield 'agent: no event of this prefix among those it still has';
  for (const { time, action, value, error } of events ?? []) {
    const failed = error === undefined ? '' : ` (failed: ${error})`;
    yield `agent: ${time} ${action}${value === undefined ? '' : ` ${valueText(value)}`}${failed}`;
  }
}

function* historyLines(history: WhyHistory | undefined): Iterable<string> {
  if (history === undefined) return;
  const { snapshots, skipped, newest, by, after, before } = history;
  const unusable = skipped === 0 ? '' : `; ${skipped} could not be used`;
  if (newest === undefined || snapshots === 0) yield `history: no snapshot to ask${unusable}`;
  else if (after === undefined) yield `history: the same in all ${snapshots} snapshots, since ${by}${unusable}`;
  else {
    yield `history: changed after ${after}${by === undefined ? '' : `, before ${by}`}${unusable}`;
    yield `history: was ${before ? valueText(before) : 'not there'}`;
  }
}

function valueText({ identity, tunnelEndpoint, encryptKey, flags }: WhyValue): string {
  const words = [`identity ${identity}`];
  if (tunnelEndpoint !== undefined) words.push(`tunnel ${tunnelEndpoint}`);
  if (encryptKey !== 0) words.push(`key ${encryptKey}`);
  if (flags.length > 0) words.push(flags.join(','));
  return words.join(', ');
}

/** What it was before the last change, as far as that is known. */
function beforeOf({ listen, agent, history }: Why): WhyValue | null | undefined {
  const events = agent?.events ?? [];
  const last = events.at(-1);
  if (last === undefined) {
    // A change after the last snapshot that the directory knows of is not the one that its snapshots tell of.
    const { since, sinceStart = false } = listen ?? {};
    const isOther = since !== undefined && !sinceStart && history?.by !== undefined && history.by < since;
    return isOther ? undefined : history?.before;
  }
  const previous = events.at(-2);
  if (previous !== undefined) return previous.action === 'update' ? previous.value : null;
  // Only a snapshot made before the event knows what the event changed.
  return history?.after !== undefined && history.after < last.time ? history.before : undefined;
}
