/** What `ipc gc` compares the map with: a source, the checkpoints, or the user's word that a node is gone. */
import { UsageError } from '../errors.ts';
import type { DesiredState } from '../gc/desired.ts';
import { OrphanDesired } from '../gc/orphan-desired.ts';
import { SourceDesired } from '../gc/source-desired.ts';
import type { Operation } from '../owner/operations.ts';
import { type OpenSourceOptions, openSource } from '../sources/open-source.ts';
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
  /** Absent: no source is asked. */
  readonly ref: SourceRef | undefined;
  /** Nobody named the running `ipc listen`: it is asked because nothing else was named. */
  readonly isImplied: boolean;
  readonly orphans: boolean;
  /** On an agent's map only a comparison with the agent itself may delete. */
  readonly operation: Operation;
}

/** @throws {UsageError} NO_DESIRED_STATE; BAD_SOURCE */
export function chooseDesired({ against, tunnel, orphans, ...flags }: DesiredFlags): DesiredChoice {
  const isAssumed = flags['assume-gone'];
  if (isAssumed && (tunnel.length === 0 || against !== undefined || orphans)) {
    throw noDesiredState('--assume-gone takes the place of a desired state, and says so of the nodes of --tunnel', {
      hint: 'ipc gc --tunnel ADDR --assume-gone',
    });
  }
  if (tunnel.length > 0 && against === undefined && !isAssumed && !orphans) {
    throw noDesiredState('that a node is gone is for a source to say');
  }
  const isImplied = against === undefined && !isAssumed && !orphans;
  const ref = against === undefined && !isImplied ? undefined : parseSourceRef(against ?? 'listen');
  return { ref, isImplied, orphans, operation: ref?.target.kind === 'agent' ? 'gc-agent' : 'gc' };
}

/** @param hint absent: the choices */
export function noDesiredState(state: string, { hint = CHOICES }: { readonly hint?: string } = {}): UsageError {
  return new UsageError(`Cannot collect garbage: ${state}`, { code: 'NO_DESIRED_STATE', hint });
}

const CHOICES =
  'name the desired state with --against (agent, listen, snapshot:FILE, ndjson:FILE), or use --orphans (the checkpoints), ' +
  'or --tunnel ADDR --assume-gone (your word); without any of them a running ipc listen is asked';

export interface OpenDesired {
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly uid: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly sockets: OpenSourceOptions['sockets'];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Of the map. */
  readonly pin: string | undefined;
  /** The numbers that the checkpoints have now. */
  readonly readKnown: () => Promise<ReadonlySet<number>>;
}

export interface OpenedDesired extends AsyncDisposable {
  readonly states: readonly DesiredState[];
}

export function openDesired({ ref, orphans }: DesiredChoice, options: OpenDesired): OpenedDesired {
  const { stdin, uid, timeoutMs, signal, sockets, now, pin, readKnown } = options;
  const source: Source | undefined = ref && openSource(ref, { stdin, uid, strict: true, sockets, now, pin });
  const states: DesiredState[] = [];
  if (source !== undefined) states.push(new SourceDesired(source, { signal, timeoutMs }));
  if (orphans) states.push(new OrphanDesired(readKnown));
  return { states, [Symbol.asyncDispose]: async () => source?.[Symbol.asyncDispose]() };
}
