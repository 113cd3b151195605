/**
 * Changes that everybody expects of an upgrade or of a key rotation. Each is one line of the report and never a finding,
 * however many entries it touches.
 */
import { FLAG, LAYOUTS } from '../ipcache/layout.ts';
import type { SnapshotHeader, SnapshotMap } from '../snapshot/lines.ts';
import type { ChangeTable } from './change-table.ts';
import type { DiffInput } from './diff-input.ts';

export type Migration =
  | { readonly migration: 'map-replaced'; readonly from: number; readonly to: number }
  | {
      readonly migration: 'world-split';
      /** Identities whose world label changed with nothing else. */
      readonly identities: number;
      /** Entries whose own identity is the world. */
      readonly entries: number;
    }
  | { readonly migration: 'layout-flags'; readonly entries: number; readonly flags: number }
  | { readonly migration: 'key-replaced'; readonly from: number; readonly to: number; readonly entries: number };

export interface KeyReplacement {
  readonly from: number;
  readonly to: number;
}

/** The map was pinned anew between two readings of one machine. @returns undefined when not, or when nobody can tell */
export function mapReplaced(before: SnapshotHeader, after: SnapshotHeader): Migration | undefined {
  const sameMachine = before.machine === after.machine && before.node === after.node;
  // After a reboot ids begin anew, so equal ids say nothing; a different boot is a different map.
  const replaced = before.map.id !== after.map.id || before.bootId !== after.bootId;
  return sameMachine && replaced ? { migration: 'map-replaced', from: before.map.id, to: after.map.id } : undefined;
}

/** Flag bits that one of the two maps cannot have at all, so that they came or went with the map itself. */
export function layoutFlags(before: SnapshotMap, after: SnapshotMap): number {
  return knownFlags(before) ^ knownFlags(after);
}

/** Since the version that also sets this flag of the map (1.19), agents mark nodes of other clusters. */
const BPF_F_RDONLY_PROG = 0x80;

function knownFlags(map: SnapshotMap): number {
  const known = LAYOUTS.find(({ name }) => name === map.layout)?.value.knownFlags ?? 0xff;
  const writesRemoteCluster = map.layout !== 'v2' || (map.flags & BPF_F_RDONLY_PROG) !== 0;
  return writesRemoteCluster ? known : known & ~FLAG.remotecluster;
}

/**
 * Whether one encryption key took the place of another, as a rotation does. Going from or to no key is none.
 * @returns undefined when several keys changed, or the old one is still used anywhere
 */
export async function findKeyReplacement(changes: ChangeTable, after: DiffInput): Promise<KeyReplacement | undefined> {
  let found: KeyReplacement | undefined;
  for (let i = 0; i < changes.size; i++) {
    const { before, after: now } = changes.valuesAt(i);
    if (before === undefined || now === undefined || before.encryptKey === now.encryptKey) continue;
    const { encryptKey: from } = before;
    const { encryptKey: to } = now;
    if (from === 0 || to === 0) return undefined;
    found ??= { from, to };
    if (found.from !== from || found.to !== to) return undefined;
  }
  return found !== undefined && !(await hasEncryptKey(after, found.from)) ? found : undefined;
}

/** Looks through a reading of its own: most lines were never parsed. */
async function hasEncryptKey(input: DiffInput, key: number): Promise<boolean> {
  const wanted = Buffer.from(`"encryptKey":${key},`);
  await using reading = await input.open();
  for await (const block of reading.entryBlocks()) {
    if (Buffer.from(block.buffer, block.byteOffset, block.length).includes(wanted)) return true;
  }
  return false;
}
