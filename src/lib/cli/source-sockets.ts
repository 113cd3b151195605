/** Where sources are that are named without a socket. */
import { DEFAULT_AGENT_SOCKET } from '../owner/agent-socket.ts';
import type { OpenSourceOptions } from '../sources/open-source.ts';
import { DEFAULT_CONTROL_SOCKET } from './control-socket.ts';

/** @param variable the value of CILIUM_SOCK: a path or `unix://PATH` */
export function sourceSockets(variable: string | undefined): OpenSourceOptions['sockets'] {
  const agent = variable?.replace(/^unix:\/\//, '');
  return { agent: agent || DEFAULT_AGENT_SOCKET, listen: DEFAULT_CONTROL_SOCKET };
}
