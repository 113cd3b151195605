/** Which map is made where the target of a restore does not exist, or is recreated. */
import { basename } from 'node:path';
import type { MapSpec } from '../bpf/create-map.ts';
import { BPF_F_NO_PREALLOC, BPF_F_RDONLY_PROG, BPF_MAP_TYPE_LPM_TRIE, BPF_OBJ_NAME_LEN } from '../bpf/uapi.ts';
import { KEY_BYTES, type Layout, type LayoutName, layoutNamed } from '../ipcache/layout.ts';

/** What Cilium gives its ipcache map (pkg/maps/ipcache). */
export const DEFAULT_MAX_ENTRIES = 512_000;

/** The map that the new one takes the place of, or the one that a snapshot was taken of. */
export interface Replaced {
  readonly layout: Layout;
  readonly maxEntries: number;
  /** BPF_F_* as given at creation. */
  readonly flags: number;
}

export interface NewMapOptions {
  readonly pin: string;
  readonly replaces?: Replaced | undefined;
  /** `--layout`, where it means the new map. */
  readonly layout?: LayoutName | undefined;
  readonly maxEntries?: number | undefined;
  readonly flags?: number | undefined;
}

export interface NewMap {
  readonly pin: string;
  readonly layout: Layout;
  readonly spec: MapSpec;
}

/** Layouts by the names that Cilium pins its maps under; the older name is that of several layouts. */
const BY_NAME: Readonly<Record<string, LayoutName>> = { cilium_ipcache_v2: 'v2', cilium_ipcache: '1.16' };

/** Chooses layout, size and flags of a new map. */
export function newMapSpec({ pin, replaces, layout: wanted, maxEntries, flags }: NewMapOptions): NewMap {
  const layout = chooseNewLayout(pin, replaces?.layout, wanted);
  const same = replaces !== undefined && replaces.layout.value.bytes === layout.value.bytes;
  return {
    pin,
    layout,
    spec: {
      type: BPF_MAP_TYPE_LPM_TRIE,
      keyBytes: KEY_BYTES,
      valueBytes: layout.value.bytes,
      maxEntries: maxEntries ?? replaces?.maxEntries ?? DEFAULT_MAX_ENTRIES,
      // Flags belong to the version that writes the layout: a map of the other one is no model for them.
      flags: flags ?? (same ? replaces.flags : defaultFlags(layout)),
      name: mapName(pin),
    },
  };
}

function chooseNewLayout(pin: string, replaced: Layout | undefined, wanted: LayoutName | undefined): Layout {
  if (wanted !== undefined) return layoutNamed(wanted);
  const named = BY_NAME[basename(pin)];
  if (named === undefined) return replaced ?? layoutNamed('v2');
  const layout = layoutNamed(named);
  return replaced !== undefined && replaced.value.bytes === layout.value.bytes ? replaced : layout;
}

/** Programs may only read the map of the second layout; Cilium made none so before. */
function defaultFlags(layout: Layout): number {
  return layout.name === 'v2' ? BPF_F_NO_PREALLOC | BPF_F_RDONLY_PROG : BPF_F_NO_PREALLOC;
}

/** Letters, digits, `_` and `.`, cut as the kernel cuts. */
function mapName(pin: string): string {
  return basename(pin)
    .replace(/[^A-Za-z0-9_.]/g, '_')
    .slice(0, BPF_OBJ_NAME_LEN - 1);
}
