/** What the agent says about addresses: `GET /ip`. Without cluster IDs, flags, and entries that another source shadows. */
import { parseAddress } from '../../net/address.ts';
import { formatPrefix, makePrefix } from '../../net/prefix.ts';
import { parseStoredPrefix } from '../../snapshot/stored-prefix.ts';
import type { AgentClient, AgentRequest } from './agent-client.ts';
import { visitObjects } from './visit-objects.ts';

export interface AgentIp {
  /** Canonical. */
  readonly prefix: string;
  readonly identity: number;
  readonly hostIP?: string;
  readonly encryptKey: number;
  /** Which Cilium source it came from; told only for pods. */
  readonly source?: string;
  readonly pod?: { readonly namespace: string; readonly name: string };
}

/**
 * Visits what the agent knows, in random order.
 * @param within only what lies within this prefix, which has no cluster ID
 * @returns how many records there were; 0 also for an agent that has nothing
 * @throws as {@link visitObjects}; {MalformedError} AGENT_ANSWER for a record without prefix or identity
 */
export async function visitIps(
  client: AgentClient,
  { within, visit }: { readonly within?: string; readonly visit: (ip: AgentIp) => void },
  request: AgentRequest,
): Promise<number> {
  const path = within === undefined ? '/ip' : `/ip?cidr=${encodeURIComponent(within)}`;
  let records = 0;
  const visitObject = (object: Readonly<Record<string, unknown>>): void => {
    const ip = ipOf(object);
    if (ip === undefined) throw client.malformed(path, 'a record has no prefix or no identity');
    records++;
    visit(ip);
  };
  const answer = await visitObjects(client, { path, depth: 2, visit: visitObject }, request);
  if (answer === 'without') throw client.malformed(path, 'it is not a list');
  return records;
}

function ipOf(object: Readonly<Record<string, unknown>>): AgentIp | undefined {
  const { cidr, identity, hostIP, encryptKey } = object;
  const prefix = typeof cidr === 'string' ? prefixOf(cidr) : undefined;
  if (prefix === undefined || typeof identity !== 'number' || !Number.isInteger(identity)) return undefined;
  if (identity < 0 || identity > 0xffffffff) return undefined;
  const { source, namespace, name } = record(object.metadata);
  return {
    prefix,
    identity,
    ...(typeof hostIP === 'string' && hostIP !== '' && { hostIP }),
    encryptKey: typeof encryptKey === 'number' ? encryptKey : 0,
    ...(typeof source === 'string' && source !== '' && { source }),
    ...(typeof namespace === 'string' && typeof name === 'string' && name !== '' && { pod: { namespace, name } }),
  };
}

function prefixOf(text: string): string | undefined {
  const address = parseAddress(text);
  const prefix = address ? makePrefix(address, address.length * 8) : parseStoredPrefix(text);
  return prefix && formatPrefix(prefix);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
