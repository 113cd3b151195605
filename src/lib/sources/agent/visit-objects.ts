import type { AgentClient, AgentRequest } from './agent-client.ts';
import { ObjectStream } from './object-stream.ts';

export interface VisitObjects {
  /** Below the base of the client's kind. */
  readonly path: string;
  /** How deep the objects lie: 2 in `[{…}]`, 3 in `{"list":[{…}]}`. */
  readonly depth: number;
  readonly visit: (value: Readonly<Record<string, unknown>>) => void;
}

/**
 * Reads an answer of the agent object by object.
 * @returns `absent` for 404 @returns `without` when what should hold the objects is missing or null
 * @throws as {@link AgentClient.read}; {MalformedError} AGENT_ANSWER when it is not JSON or ends too early
 */
export async function visitObjects(
  client: AgentClient,
  { path, depth, visit }: VisitObjects,
  request: AgentRequest,
): Promise<'visited' | 'without' | 'absent'> {
  const stream = new ObjectStream(depth, visit);
  const take = (chunk: Uint8Array): void => {
    try {
      stream.take(chunk);
    } catch (cause) {
      if (cause instanceof SyntaxError) throw client.malformed(path, 'it is not JSON');
      if (cause instanceof RangeError) throw client.malformed(path, cause.message);
      throw cause;
    }
  };
  if (!(await client.read(path, request, take))) return 'absent';
  if (!stream.ended) throw client.malformed(path, 'it ends too early');
  if (depth > 1 && stream.empty) throw client.malformed(path, 'it is empty');
  return stream.opened ? 'visited' : 'without';
}
