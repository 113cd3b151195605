/** Writes what a plan adds to or changes in a map that is there, entry by entry, and never over anything it did not plan. */
import { errnoOf } from '../bpf/bpf-error.ts';
import { sameBytes } from '../bpf/key-probe.ts';
import type { BpfMap } from '../bpf/map.ts';
import { BPF_NOEXIST } from '../bpf/uapi.ts';
import { FailedError, LayoutError, ToolError } from '../errors.ts';
import { numericIdentity } from '../identity/numeric-identity.ts';
import type { LayoutChoice } from '../ipcache/choose-layout.ts';
import { type EncodedEntry, encodeEntry } from '../ipcache/encode-entry.ts';
import { parseStoredPrefix } from '../snapshot/stored-prefix.ts';
import type { PlannedEntry } from './planned-entry.ts';

/** The layout of a map, and the others that it may have. */
export type Placement = Pick<LayoutChoice, 'layout' | 'candidates'>;

export interface EntryWrite extends EncodedEntry {
  readonly entry: PlannedEntry;
  /** The value that is replaced; absent where the entry is added. */
  readonly before?: Uint8Array;
}

/** Why an entry was not written. */
export interface WriteFailure {
  readonly entry: PlannedEntry;
  readonly error: ToolError;
}

/** The bytes of an added entry: the number alone, as the agent restores it. @throws {LayoutError} it does not fit */
export function encodePlanned(placement: Placement, { prefix: text, identity }: PlannedEntry): EncodedEntry {
  const prefix = parseStoredPrefix(text);
  if (prefix === undefined) throw new LayoutError(`Cannot write ${text}: it is no prefix`);
  return encodeEntry(placement, prefix, { identity: numericIdentity(identity) });
}

/**
 * Writes all of them. A map that is full or frozen ends it: everything after that fails for the same reason.
 * @returns what was not written
 */
export function placeEntries(map: BpfMap, writes: readonly EntryWrite[]): WriteFailure[] {
  const failures: WriteFailure[] = [];
  let broken: ToolError | undefined;
  for (const write of writes) {
    const error = broken ?? placeOne(map, write);
    if (error === undefined) continue;
    failures.push({ entry: write.entry, error });
    if (ENDING.has(errnoOf(error) ?? '')) broken = error;
  }
  return failures;
}

/** These will be the answer to every other entry as well. */
const ENDING: ReadonlySet<string> = new Set(['ENOSPC', 'EPERM', 'EBADF']);

function placeOne(map: BpfMap, { key, value, before, entry: { prefix } }: EntryWrite): ToolError | undefined {
  try {
    if (before !== undefined && !hasValue(map, key, before)) return changedMeanwhile(prefix);
    map.update(key, value, before === undefined ? BPF_NOEXIST : undefined);
    return undefined;
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
}

function hasValue(map: BpfMap, key: Uint8Array, wanted: Uint8Array): boolean {
  const value = new Uint8Array(wanted.length);
  return map.lookup(key, value) && sameBytes(value, wanted);
}

function changedMeanwhile(prefix: string): ToolError {
  return new FailedError(`Cannot update ${prefix}: it changed since it was read`, {
    code: 'ENTRY_CHANGED',
    hint: 'somebody else writes this map; find out who before trying again: ipc doctor',
    operands: { prefix },
  });
}
