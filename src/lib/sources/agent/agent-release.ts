/**
 * When an agent has released what it restored itself. Its API does not say so, and until then its list has its own
 * placeholders in it. What can be seen is how long it runs: the release comes a grace period after its endpoints are
 * restored (daemon/cmd of Cilium), so it is over when the agent is older than that grace period and some minutes more.
 */
import { readFileSync } from 'node:fs';
import type * as Net from 'node:net';
import { peerPid } from '../../native/peer-credentials.ts';
import type { AgentClient, AgentRequest } from './agent-client.ts';

/** With a kvstore; without one 30 s. */
const LONGEST_GRACE_MS = 600_000;
/** For the restoration of endpoints, from which the grace period is counted. */
const RESTORATION_MS = 300_000;
/** USER_HZ of /proc/PID/stat. */
const TICKS_A_SECOND = 100;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * @returns words that complete *its claims do not count: …*; undefined when it has released what it restored
 * @throws as AgentClient.read
 */
export async function whyClaimsDoNotCount(
  client: AgentClient,
  request: AgentRequest,
  procRoot = '/proc',
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  const has = await client.read('/config', { ...request, maxBytes: MAX_BYTES }, (chunk) => chunks.push(chunk));
  const graceMs = has ? graceOf(Buffer.concat(chunks).toString()) : LONGEST_GRACE_MS;
  const age = await ageOf(client.socket, procRoot);
  if (age === undefined) return 'since when the agent runs cannot be seen from here';
  if (age >= graceMs + RESTORATION_MS) return undefined;
  const seconds = Math.round((graceMs + RESTORATION_MS) / 1000);
  return `the agent runs for ${Math.round(age / 1000)} s, and may hold its own placeholders until ${seconds} s`;
}

/** Go prints a duration as nanoseconds. */
function graceOf(text: string): number {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return LONGEST_GRACE_MS;
  }
  const map = (config as { status?: { daemonConfigurationMap?: Record<string, unknown> } } | null)?.status
    ?.daemonConfigurationMap;
  const nanoseconds = map?.IdentityRestoreGracePeriod;
  return typeof nanoseconds === 'number' && nanoseconds >= 0 ? nanoseconds / 1e6 : LONGEST_GRACE_MS;
}

/** Milliseconds since the process that listens there was started; undefined where it cannot be seen. */
async function ageOf(socket: string, procRoot: string): Promise<number | undefined> {
  const pid = await listenerOf(socket);
  if (pid === undefined) return undefined;
  try {
    const stat = readFileSync(`${procRoot}/${pid}/stat`, 'latin1');
    // The name in parentheses may have anything in it; starttime is field 22.
    const started = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) / TICKS_A_SECOND;
    const uptime = Number(readFileSync(`${procRoot}/uptime`, 'latin1').split(' ')[0]);
    const age = (uptime - started) * 1000;
    return Number.isFinite(age) ? age : undefined;
  } catch {
    return undefined;
  }
}

function listenerOf(path: string): Promise<number | undefined> {
  const { connect } = require('node:net') as typeof Net;
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => {
      const pid = peerPid(socket);
      socket.destroy();
      resolve(pid);
    });
  });
}
