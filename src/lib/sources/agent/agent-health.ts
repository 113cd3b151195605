/** Whether an agent knows enough to be believed: `GET /healthz` (StatusResponse in api/v1/openapi.yaml). */
import { UnreachableError } from '../../errors.ts';
import type { AgentClient, AgentRequest } from './agent-client.ts';

const PATH = '/healthz';
/** With thousands of nodes and controllers it is some megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * @throws {UnreachableError} SOURCE_NOT_SYNCED: the agent itself, Kubernetes, the kvstore or a remote cluster is not ready
 * @throws as AgentClient.read
 */
export async function requireSyncedAgent(client: AgentClient, request: AgentRequest): Promise<void> {
  const chunks: Uint8Array[] = [];
  const has = await client.read(PATH, { ...request, maxBytes: MAX_BYTES }, (chunk) => chunks.push(chunk));
  const reason = has ? unreadyPart(client, Buffer.concat(chunks).toString()) : 'it does not tell its health';
  if (reason === undefined) return;
  throw new UnreachableError(`Cannot use the agent at ${client.socket} as a source: ${reason}`, {
    code: 'SOURCE_NOT_SYNCED',
    hint: 'wait until cilium-dbg status says that the agent is ready',
    operands: { path: client.socket },
  });
}

function unreadyPart(client: AgentClient, text: string): string | undefined {
  const status = record(parse(text));
  if (status === undefined) throw client.malformed(PATH, 'it is not a status');
  for (const name of ['cilium', 'kubernetes', 'kvstore']) {
    const part = record(status[name]);
    // Warning: something of it is stale or degraded, which says nothing about what it knows.
    if (part === undefined || READY.has(String(part.state))) continue;
    const message = typeof part.msg === 'string' && part.msg !== '' ? ` (${part.msg})` : '';
    return `${name} is in state ${String(part.state)}${message}`;
  }
  const clusters = record(status['cluster-mesh'])?.clusters;
  for (const cluster of Array.isArray(clusters) ? clusters.map(record) : []) {
    if (cluster?.ready === false) return `remote cluster ${String(cluster.name)} is not ready`;
  }
  return record(status.cilium) === undefined ? 'it does not tell its state' : undefined;
}

const READY: ReadonlySet<string> = new Set(['Ok', 'Warning', 'Disabled']);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
