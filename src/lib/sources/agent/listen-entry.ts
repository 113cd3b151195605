/** What a running `ipc listen` has for one prefix: `GET /ipc/v1/dump?prefix=` of its control socket. */
import type { AgentClient, AgentRequest } from './agent-client.ts';
import { visitObjects } from './visit-objects.ts';

export interface ListenEntry {
  readonly identity: number;
  /** The Cilium source that won. */
  readonly source?: string;
  readonly pod?: { readonly namespace: string; readonly name: string };
  readonly hostIP?: string;
  readonly resources?: readonly ListenResource[];
  /** Since when it is what it is in the map, to the second; RFC 3339. */
  readonly since?: string;
  /** It was listed when the run began: it may have been so before. */
  readonly sinceStart?: boolean;
}

/** Whose metadata the prefix has. */
export interface ListenResource {
  readonly resource: string;
  readonly source: string;
  readonly labels?: readonly string[];
}

/**
 * @param client of the kind `IPC_LISTEN`
 * @returns the pin that it keeps, and what it has for the prefix if anything
 * @throws as {@link visitObjects}; {MalformedError} when the answer has no end or no number
 */
export async function readListenEntry(
  client: AgentClient,
  prefix: string,
  request: AgentRequest,
): Promise<{ readonly pin?: string; readonly entry?: ListenEntry }> {
  const path = `/dump?prefix=${encodeURIComponent(prefix)}`;
  let pin: string | undefined;
  let entry: ListenEntry | undefined;
  let ended = false;
  const visit = (object: Readonly<Record<string, unknown>>): void => {
    if (object.kind === 'listen-dump') pin = typeof object.pin === 'string' ? object.pin : undefined;
    else if (object.end === true) ended = true;
    else if (object.prefix === prefix && object.shadowed !== true) {
      if (typeof object.identity !== 'number') throw client.malformed(path, 'an entry has no identity');
      entry = object as unknown as ListenEntry;
    }
  };
  await visitObjects(client, { path, depth: 1, visit }, request);
  if (!ended) throw client.malformed(path, 'it has no end');
  return { ...(pin !== undefined && { pin }), ...(entry !== undefined && { entry }) };
}
