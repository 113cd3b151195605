/** Words that completion asks the running program for. Cheap, and never a failure: what cannot be seen is left out. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { bpffsRoots } from '../../bpf/bpffs.ts';
import { hasIpcacheShape } from '../../bpf/ipcache-shape.ts';
import { listMaps } from '../../bpf/map-list.ts';
import { DEFAULT_CHECKPOINT_PATH, readCheckpoint } from '../../identity/checkpoint.ts';
import { RESERVED_ROWS } from '../../identity/reserved.ts';
import { LinuxKernel } from '../../native/linux-kernel.ts';
import { escapeText } from '../../output/escape.ts';
import type { DynamicValues } from './model.ts';

/** A larger checkpoint would be felt between a key and its effect. */
const LARGEST_CHECKPOINT_BYTES = 1 << 20;

export interface DynamicValue {
  readonly word: string;
  readonly meaning: string;
}

export interface ValuesOptions {
  readonly bpffs: string | undefined;
  readonly tcBpfMnt: string | undefined;
}

/** @returns what can stand in such a place on this machine */
export function dynamicValues(what: DynamicValues, options: ValuesOptions): DynamicValue[] {
  switch (what) {
    case 'map':
      return [...attempt(() => pins(options)), ...attempt(mapIds), { word: 'datapath', meaning: 'what programs use' }];
    case 'identity':
      return [...RESERVED_ROWS.map(({ name, meaning }) => ({ word: name, meaning })), ...attempt(localIdentities)];
  }
}

function pins({ bpffs, tcBpfMnt }: ValuesOptions): DynamicValue[] {
  const roots = bpffsRoots({ bpffs, tcBpfMnt, mountinfo: readFileSync('/proc/self/mountinfo', 'utf8') });
  return roots.flatMap((root) => {
    const directory = path.join(root, 'tc', 'globals');
    const names = attempt(() => readdirSync(directory).filter((name) => name.includes('ipcache')));
    return names.map((name) => ({ word: path.join(directory, name), meaning: 'pin' }));
  });
}

function mapIds(): DynamicValue[] {
  const maps = [...listMaps(new LinuxKernel())].filter(hasIpcacheShape);
  return maps.map(({ id, name }) => ({ word: `id:${id}`, meaning: name }));
}

function localIdentities(): DynamicValue[] {
  if (statSync(DEFAULT_CHECKPOINT_PATH).size > LARGEST_CHECKPOINT_BYTES) return [];
  const records = readCheckpoint(DEFAULT_CHECKPOINT_PATH) ?? [];
  return records.map(({ id, labels }) => ({ word: String(id), meaning: escapeText(String(labels)) }));
}

function attempt<T>(look: () => readonly T[]): readonly T[] {
  try {
    return look();
  } catch {
    return [];
  }
}
