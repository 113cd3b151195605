/** One complete reading of what an agent wants in the map. */
import { UnreachableError } from '../../errors.ts';
import type { SourceRecord } from '../source.ts';
import type { AgentClient, AgentRequest } from './agent-client.ts';
import { visitIps } from './ip-list.ts';
import { agentMapNames } from './map-name.ts';
import { parseMapKey, parseMapValue } from './map-value.ts';
import { visitObjects } from './visit-objects.ts';

export interface AgentReading {
  readonly records: number;
  /** `map`: with cluster IDs and flags; `ip`: the agent does not keep what it wrote, so both are missing. */
  readonly by: 'map' | 'ip';
}

/**
 * Visits the agent's memory of the map, entries that are to be deleted left out; where it keeps none, its addresses. The
 * agent holds its locks while it lists: not to be done often.
 * @throws as {@link visitObjects}; {UnreachableError} SOURCE_NOT_SYNCED when the agent has nothing at all yet
 */
export async function readAgent(
  client: AgentClient,
  { pin, rank, visit }: AgentReader,
  request: AgentRequest,
): Promise<AgentReading> {
  let records = 0;
  for (const name of agentMapNames(pin)) {
    const path = `/map/${name}`;
    const take = (object: Readonly<Record<string, unknown>>): void => {
      if (object['desired-action'] === 'to-be-deleted') return;
      const key = parseMapKey(object.key);
      const value = parseMapValue(object.value);
      if (key === undefined || value === undefined) throw client.malformed(path, 'an entry is not that of an ipcache');
      records++;
      visit({ key, source: rank, ...value });
    };
    const answer = await visitObjects(client, { path, depth: 3, visit: take }, request);
    if (answer === 'visited') return assertNotEmpty({ records, by: 'map' }, client);
    if (answer === 'without') break;
  }
  records = await visitIps(client, { visit: (ip) => visit(recordOf(ip, rank)) }, request);
  return assertNotEmpty({ records, by: 'ip' }, client);
}

export interface AgentReader {
  /** Of the map that the agent is asked about. */
  readonly pin?: string | undefined;
  /** The Cilium source of records that do not have one. */
  readonly rank: string;
  readonly visit: (record: SourceRecord & { readonly identity: number }) => void;
}

function recordOf(
  { prefix, identity, hostIP, encryptKey, source, pod }: Parameters<Parameters<typeof visitIps>[1]['visit']>[0],
  rank: string,
): SourceRecord & { readonly identity: number } {
  return { key: prefix, identity, source: source ?? rank, hostIP, encryptKey, pod };
}

/** An agent that runs has at least the entries of its own node. */
function assertNotEmpty(reading: AgentReading, { socket }: AgentClient): AgentReading {
  if (reading.records > 0) return reading;
  throw new UnreachableError(`Cannot use the agent at ${socket} as a source: it knows no address yet`, {
    code: 'SOURCE_NOT_SYNCED',
    hint: 'wait until cilium-dbg status says that the agent is ready',
    operands: { path: socket },
  });
}
