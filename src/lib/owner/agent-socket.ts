/**
 * Asks a unix socket whether a cilium-agent lives behind it. Any HTTP answer counts, whatever its status: an agent that
 * is unhealthy still owns its map. The agent loop of `ipc` serves the same paths and says so in its Server header.
 */
import { statSync } from 'node:fs';
import type * as Net from 'node:net';
import { errnoOf } from '../fs/file-error.ts';
import { peerPid } from '../native/peer-credentials.ts';
import type { AgentSocket } from './evidence.ts';

/** Where the agent listens unless CILIUM_SOCK says otherwise (pkg/defaults of Cilium). */
export const DEFAULT_AGENT_SOCKET = '/var/run/cilium/cilium.sock';

/** The Server header of our own control socket begins so. */
export const OWN_SERVER = 'ipc/';

/** The agent's own probe (api/v1/openapi.yaml); `brief` spares it the full status. */
const REQUEST = 'GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nbrief: true\r\nConnection: close\r\n\r\n';
/** More than any header that could matter. */
const MAX_ANSWER = 4096;

/**
 * @param timeoutMs how long a socket that takes connections may stay silent
 * @returns undefined when there is no socket at `path`, or when it is that of an `ipc`
 */
export async function askAgentSocket(path: string, timeoutMs: number): Promise<AgentSocket | undefined> {
  try {
    if (!statSync(path).isSocket()) return undefined;
  } catch (cause) {
    return errnoOf(cause) === 'EACCES' ? { path, state: 'denied' } : undefined;
  }
  const { connect } = require('node:net') as typeof Net;
  return new Promise((resolve) => {
    const socket = connect({ path });
    let answer = '';
    let pid: number | undefined;
    const settle = (state: AgentSocket['state'] | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(state === undefined ? undefined : { path, state, ...(pid === undefined ? {} : { pid }) });
    };
    const timer = setTimeout(() => settle('silent'), timeoutMs);
    socket.setEncoding('latin1');
    socket.once('connect', () => {
      pid = peerPid(socket);
      socket.write(REQUEST);
    });
    socket.on('data', (text: string) => {
      answer += text;
      const head = answer.indexOf('\r\n\r\n');
      if (head < 0 && answer.length < MAX_ANSWER) return;
      settle(isOwn(answer.slice(0, head < 0 ? MAX_ANSWER : head)) ? undefined : 'answers');
    });
    socket.once('error', (cause) => settle(stateOf(errnoOf(cause))));
    socket.once('close', () => settle('silent'));
  });
}

function isOwn(head: string): boolean {
  const server = /^server:[ \t]*(.*)$/im.exec(head)?.[1];
  return server?.startsWith(OWN_SERVER) ?? false;
}

function stateOf(errno: string | undefined): AgentSocket['state'] | undefined {
  switch (errno) {
    case 'ECONNREFUSED':
      return 'refuses';
    case 'EACCES':
    case 'EPERM':
      return 'denied';
    case 'ENOENT':
      return undefined; // removed since it was looked at
    default:
      return 'silent';
  }
}
