import type { Layout } from './layout.ts';

/**
 * A map as bpftool's command line names it.
 * @param map as --map has it; absent: the pin that Cilium gives a map of this layout.
 */
export function bpftoolMap(map: string | undefined, layout: Layout): string {
  const [, kind, name] = /^(id|name):(.+)$/.exec(map ?? '') ?? [];
  if (kind !== undefined) return `${kind} ${name}`;
  return `pinned ${map ?? `/sys/fs/bpf/tc/globals/cilium_ipcache${layout.value.bytes === 24 ? '_v2' : ''}`}`;
}
