/** What `ipc gc` compares the map with: a source, the checkpoints, or the user's word that a node is gone. */
import { UsageError } from '../errors.ts';
import type { DesiredState } from '../gc/desired.ts';
import { OrphanDesired } from '../gc/orphan-desired.ts';
import { SourceDesired } from '../gc/source-desired.ts';
import type { Operation } from '../owner/operations.ts';
import { openSource } from '../sources/open-source.ts';
import type { Source } from '../sources/source.ts';
import { parseSourceRef, type SourceRef } from '../sources/source-ref.ts';

export interface DesiredFlags {
  readonly against?: string | undefined;
  readonly tunnel: readonly string[];
  readonly 'assume-gone': boolean;
  readonly orphans: boolean;
}

/** What was asked for, checked but not opened. */
export interface DesiredChoice {
  readonly ref: SourceRef | undefined;
  readonly orphans: boolean;
  /** On an agent's map only a comparison with the agent itself may delete. */
  readonly operation: Operation;
}

/** @throws {UsageError} NO_DESIRED_STATE, listing the choices; BAD_SOURCE */
export function chooseDesired({ against, tunnel, orphans, ...flags }: DesiredFlags): DesiredChoice {
  const isAssumed = flags['assume-gone'];
  if (isAssumed && (tunnel.length === 0 || against !== undefined || orphans)) {
    throw usage('--assume-gone takes the place of a desired state, and says so of the nodes of --tunnel', {
      hint: 'ipc gc --tunnel ADDR --assume-gone',
    });
  }
  if (against === undefined && !isAssumed && !orphans) {
    throw usage(
      tunnel.length > 0 ? 'that a node is gone is for a source to say' : 'nothing says what the map should have',
      {
        hint:
          'name the desired state with --against (agent, listen, etcd:FILE, k8s, snapshot:FILE, ndjson:FILE, unix:PATH), ' +
          'or use --orphans (the checkpoints), or --tunnel ADDR --assume-gone (your word)',
      },
    );
  }
  const ref = against === undefined ? undefined : parseSourceRef(against);
  return { ref, orphans, operation: ref?.target.kind === 'agent' ? 'gc-agent' : 'gc' };
}

export interface OpenDesired {
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly uid: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The numbers that the checkpoints have now. */
  readonly readKnown: () => Promise<ReadonlySet<number>>;
}

export interface OpenedDesired extends AsyncDisposable {
  readonly states: readonly DesiredState[];
}

export function openDesired({ ref, orphans }: DesiredChoice, options: OpenDesired): OpenedDesired {
  const { stdin, uid, timeoutMs, signal, readKnown } = options;
  const source: Source | undefined = ref && openSource(ref, { stdin, uid, strict: true });
  const states: DesiredState[] = [];
  if (source !== undefined) states.push(new SourceDesired(source, { signal, timeoutMs }));
  if (orphans) states.push(new OrphanDesired(readKnown));
  return { states, [Symbol.asyncDispose]: async () => source?.[Symbol.asyncDispose]() };
}

function usage(state: string, { hint }: { readonly hint: string }): UsageError {
  return new UsageError(`Cannot collect garbage: ${state}`, { code: 'NO_DESIRED_STATE', hint });
}
