/** From a reference to the source it names. */
import { UsageError } from '../errors.ts';
import { AgentSource } from './agent/agent-source.ts';
import { ListenSource } from './listen/listen-source.ts';
import { openNdjson } from './ndjson.ts';
import type { NdjsonSetup } from './ndjson-file.ts';
import { SnapshotSource } from './snapshot-source.ts';
import type { Source } from './source.ts';
import type { SourceRef } from './source-ref.ts';
import { UnixSource } from './unix-source.ts';

export interface OpenSourceOptions extends Pick<NdjsonSetup, 'strict' | 'onBadLine'> {
  readonly stdin: () => AsyncIterable<Uint8Array>;
  /** Of this process. */
  readonly uid: number;
  /** A client of a socket source that was turned away. */
  readonly onRefused?: ((source: string, reason: string) => void) | undefined;
  /** Where an agent and a listen are that are named without a socket. */
  readonly sockets: { readonly agent: string; readonly listen: string };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Of the map that the source is compared with, where it is known; an agent knows more than one. */
  readonly pin?: string | undefined;
}

/**
 * Opens a source to be followed; nothing is read yet.
 * @throws {UsageError} NO_SUCH_SOURCE for a kind that this version cannot follow
 * @throws {ToolError} a FIFO that cannot be opened
 */
export function openSource(ref: SourceRef, options: OpenSourceOptions): Source {
  const { name, rank, target } = ref;
  const { strict, onBadLine, stdin, uid, onRefused, sockets, now, pin } = options;
  switch (target.kind) {
    case 'ndjson':
      return openNdjson({ name, rank, path: target.path, strict, onBadLine, stdin });
    case 'unix': {
      const refused = (reason: string): void => onRefused?.(name, reason);
      return new UnixSource({ name, rank, path: target.path, strict, onBadLine, uid, onRefused: refused });
    }
    case 'snapshot':
      return new SnapshotSource({ name, rank, path: target.path });
    case 'agent':
      return new AgentSource({ name, rank, socket: target.socket ?? sockets.agent, now, pin });
    case 'listen':
      return new ListenSource({ name, rank, socket: target.socket ?? sockets.listen });
    case 'etcd':
    case 'k8s':
      throw new UsageError(`Cannot use source ${name}: this version of ipc cannot follow ${target.kind}`, {
        code: 'NO_SUCH_SOURCE',
        hint: 'it follows ndjson:-, ndjson:PATH, unix:PATH, agent, listen and snapshot:PATH; feed it from elsewhere through one of these',
        operands: { source: name },
      });
  }
}
