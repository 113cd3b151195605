/** What only procfs says about an open map: bpf_map_show_fdinfo of kernel/bpf/syscall.c. */
import { readFileSync } from 'node:fs';

export interface MapFdinfo {
  readonly mapId: number;
  /** Open mode of the descriptor. */
  readonly access: 'read-only' | 'write-only' | 'read-write';
  /** Bytes; an LPM trie counts about a third of what its entries take. Absent where the kernel does not say. */
  readonly memlockBytes?: number;
  /** No process can change it through bpf(2) any more. */
  readonly frozen: boolean;
}

const ACCESS = ['read-only', 'write-only', 'read-write'] as const;

/** @returns undefined where the text is not of a map. */
export function parseMapFdinfo(text: string): MapFdinfo | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const mapId = Number(fields.get('map_id'));
  // Octal open flags; the two low bits are the access mode of open(2).
  const flags = Number.parseInt(fields.get('flags') ?? '', 8);
  const access = Number.isNaN(flags) ? undefined : ACCESS[flags & 3];
  if (!Number.isInteger(mapId) || access === undefined) return undefined;
  const memlock = fields.get('memlock');
  return {
    mapId,
    access,
    frozen: fields.get('frozen') === '1',
    ...(memlock === undefined ? {} : { memlockBytes: Number(memlock) }),
  };
}

/** Of a descriptor of this process. @returns undefined where procfs is not there or `fd` is no map. */
export function readMapFdinfo(fd: number, procRoot = '/proc'): MapFdinfo | undefined {
  try {
    return parseMapFdinfo(readFileSync(`${procRoot}/self/fdinfo/${fd}`, 'latin1'));
  } catch {
    return undefined;
  }
}
