/** Writes one entry, with what the user expects to be there as a condition. */
import { errnoOf } from '../bpf/bpf-error.ts';
import { sameBytes } from '../bpf/key-probe.ts';
import type { BpfMap } from '../bpf/map.ts';
import { BPF_ANY, BPF_EXIST, BPF_NOEXIST } from '../bpf/uapi.ts';
import { RefusedError } from '../errors.ts';
import { encodeEntry } from '../ipcache/encode-entry.ts';
import { decodeEntry, type IpcacheEntry } from '../ipcache/entry.ts';
import { explainPrefix } from '../ipcache/explain-prefix.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import type { RemoteEndpoint } from '../ipcache/remote-endpoint-info.ts';
import { formatPrefix, type Prefix } from '../net/prefix.ts';

export interface SetRequest {
  readonly prefix: Prefix;
  readonly endpoint: RemoteEndpoint;
  /** `create`: there must be no entry; `replace`: there must be one. */
  readonly must?: 'create' | 'replace' | undefined;
  /** The entry must have this identity now. */
  readonly expectIdentity?: number | undefined;
}

export interface SetPlan {
  readonly action: 'add' | 'update' | 'keep';
  readonly prefix: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly entry: IpcacheEntry;
  /** What was there; absent for a new entry. */
  readonly before?: IpcacheEntry | undefined;
  /** What answered for the prefix until now, where that was a wider entry. */
  readonly hides?: IpcacheEntry | undefined;
}

/**
 * Compares what is wanted with what is there. Flag bits that the layout gives no meaning to, and a node ID, stay as they are.
 * @throws {RefusedError} ENTRY_EXISTS, NO_SUCH_ENTRY, UNEXPECTED_IDENTITY @throws what encodeEntry throws
 */
export async function planSet(
  { map, layoutChoice }: IpcacheMap,
  { prefix, endpoint, must, expectIdentity }: SetRequest,
  signal?: AbortSignal,
): Promise<SetPlan> {
  const { chain, exact } = await explainPrefix(map, layoutChoice, prefix, signal);
  const stored = exact ? chain[0] : undefined;
  const before = stored?.entry;
  const text = formatPrefix(prefix);
  if (must === 'create' && before !== undefined) throw exists(map, text, before.identity);
  if (must === 'replace' && before === undefined) throw missing(map, text, 'there is no entry to replace');
  if (expectIdentity !== undefined) requireIdentity(map, text, before?.identity, expectIdentity);
  const { knownFlags, nodeId } = layoutChoice.layout.value;
  const { key, value } = encodeEntry(layoutChoice, prefix, {
    ...endpoint,
    flags: (endpoint.flags ?? 0) | ((before?.flags ?? 0) & ~knownFlags),
    ...(nodeId !== undefined && { nodeId: before?.nodeId ?? 0 }),
  });
  const entry = decodeEntry(layoutChoice.layout, { keys: key, values: value });
  const plan = { prefix: text, key, value, entry };
  if (stored === undefined) return { ...plan, action: 'add', hides: chain[0]?.entry };
  return { ...plan, action: sameBytes(stored.value, value) ? 'keep' : 'update', before };
}

export interface ApplySet {
  readonly must?: 'create' | 'replace' | undefined;
  /** Delete, then insert, where a full map cannot be changed in place. */
  readonly allowGap?: boolean | undefined;
}

/**
 * Writes what was planned. The kernel itself sees to it that an entry to be created is new, and one to be replaced is there
 * (older kernels do not look).
 * @throws {RefusedError} when that changed since; FULL_IN_PLACE @throws as BpfMap.update
 */
export function applySet(map: BpfMap, plan: SetPlan, { must, allowGap }: ApplySet = {}): void {
  const { action, prefix, key, value, before } = plan;
  if (action === 'keep') return;
  const flags = must === 'create' ? BPF_NOEXIST : must === 'replace' ? BPF_EXIST : BPF_ANY;
  try {
    map.update(key, value, flags);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw exists(map, prefix, undefined);
    if (errnoOf(error) === 'ENOENT') throw missing(map, prefix, 'it was deleted meanwhile');
    // A full map takes no new entry, but a kernel before 6.13 also refuses to change one.
    if (errnoOf(error) !== 'ENOSPC' || before === undefined) throw error;
    if (allowGap !== true) throw refusedInPlace(map, prefix, error);
    map.delete(key);
    map.update(key, value);
  }
}

/** What the written entry loses or hides, in sentences. */
export function setWarnings({ entry, before, hides }: SetPlan): string[] {
  const other = before ?? hides;
  if (other === undefined) return [];
  const where = before === undefined ? `${other.prefix}, which it hides, has` : 'the entry had';
  const warnings: string[] = [];
  if (other.tunnelEndpoint !== undefined && entry.tunnelEndpoint === undefined) {
    warnings.push(`${where} the tunnel ${other.tunnelEndpoint}, the new one has none`);
  }
  if (other.encryptKey !== 0 && entry.encryptKey === 0) {
    warnings.push(`${where} the encrypt key ${other.encryptKey}, the new one has none`);
  }
  return warnings;
}

/** @throws {RefusedError} UNEXPECTED_IDENTITY, NO_SUCH_ENTRY */
export function requireIdentity(map: BpfMap, prefix: string, identity: number | undefined, expected: number): void {
  if (identity === expected) return;
  if (identity === undefined) throw missing(map, prefix, `there is no entry with identity ${expected}`);
  throw new RefusedError(`Cannot change ${prefix} in ${map.label}: it has identity ${identity}, not ${expected}`, {
    code: 'UNEXPECTED_IDENTITY',
    hint: `look at it again: ipc get --exact ${prefix}`,
    operands: { prefix, identity, expectIdentity: expected },
  });
}

function exists(map: BpfMap, prefix: string, identity: number | undefined): RefusedError {
  const state = identity === undefined ? 'the entry exists by now' : `the entry exists, with identity ${identity}`;
  return new RefusedError(`Cannot create ${prefix} in ${map.label}: ${state}`, {
    code: 'ENTRY_EXISTS',
    hint: 'leave out --create to write over it',
    operands: { prefix, ...(identity !== undefined && { identity }) },
  });
}

function missing(map: BpfMap, prefix: string, state: string): RefusedError {
  return new RefusedError(`Cannot change ${prefix} in ${map.label}: ${state}`, {
    code: 'NO_SUCH_ENTRY',
    hint: `see what answers for it: ipc get ${prefix}`,
    operands: { prefix },
  });
}

function refusedInPlace(map: BpfMap, prefix: string, cause: unknown): RefusedError {
  return new RefusedError(
    `Cannot change ${prefix} in ${map.label}: the map is full, and this kernel then refuses even to change entries`,
    {
      code: 'FULL_IN_PLACE',
      hint: '--allow-gap deletes the entry and writes it again, with a moment in which a wider one answers',
      operands: { prefix, errno: 'ENOSPC', syscall: 'BPF_MAP_UPDATE_ELEM' },
      cause,
    },
  );
}
