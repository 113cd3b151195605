/** Whether a path lies on a bpf filesystem, by the magic number that statfs(2) answers. */
import { statfsSync } from 'node:fs';
import path from 'node:path';
import { BPF_FS_MAGIC } from './uapi.ts';

export type PathPlace = 'bpffs' | 'elsewhere' | 'missing' | 'hidden';

/** `missing`: nothing of that name; `hidden`: a directory above it may not be searched. */
export function placeOf(file: string): PathPlace {
  try {
    return statfsSync(file).type === BPF_FS_MAGIC ? 'bpffs' : 'elsewhere';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'EACCES' || code === 'EPERM' ? 'hidden' : 'missing';
  }
}

/** As placeOf, but of the nearest directory above that can be asked: where a new pin of this path would be made. */
export function isBelowBpffs(file: string): boolean {
  let at = path.resolve(file);
  for (;;) {
    const place = placeOf(at);
    if (place === 'bpffs' || place === 'elsewhere') return place === 'bpffs';
    const parent = path.dirname(at);
    if (parent === at) return false;
    at = parent;
  }
}
