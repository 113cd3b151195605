/** Takes a bulk change back: entries of a backup that are gone are written again, byte for byte, never over anything. */
import { errnoOf } from '../bpf/bpf-error.ts';
import type { BpfMap } from '../bpf/map.ts';
import { isStored } from '../bpf/presence.ts';
import { BPF_NOEXIST } from '../bpf/uapi.ts';
import { RefusedError } from '../errors.ts';
import type { BackupEntry } from '../state/backup.ts';
import type { Backup } from '../state/read-backup.ts';

export interface PutBack {
  readonly entry: BackupEntry & { readonly before: Uint8Array };
  /** `exists`: something is there, and stays. */
  readonly state: 'missing' | 'exists';
}

/** @throws {RefusedError} BACKUP_OF_OTHER_SHAPE the entries do not fit the map */
export async function planPutBack(map: BpfMap, { header, entries }: Backup, file: string): Promise<PutBack[]> {
  const plan: PutBack[] = [];
  for (const entry of entries) {
    const { key, before } = entry;
    // What did not exist before is nothing to put back.
    if (before === undefined) continue;
    if (key.length !== map.info.keyBytes || before.length !== map.info.valueBytes) {
      throw new RefusedError(
        `Cannot put ${file} back into ${map.label}: its entries are of layout ${header.map.layout}, with values of ${before.length} bytes`,
        { code: 'BACKUP_OF_OTHER_SHAPE', hint: 'name the map that it was taken of with --map', operands: { file } },
      );
    }
    plan.push({ entry: { ...entry, before }, state: (await isStored(map, key)) ? 'exists' : 'missing' });
  }
  return plan;
}

/** @returns whether the entry was written; false where another one is there */
export async function applyPutBack(map: BpfMap, { entry, state }: PutBack): Promise<boolean> {
  // Older kernels ignore BPF_NOEXIST on tries: looked at once more, so that it is not only the flag that protects.
  if (state === 'exists' || (await isStored(map, entry.key))) return false;
  try {
    map.update(entry.key, entry.before, BPF_NOEXIST);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}
