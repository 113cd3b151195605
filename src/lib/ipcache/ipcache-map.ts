/** An open ipcache map together with the layout of its entries: what every command that reads or writes one works on. */
import type { BpfMap } from '../bpf/map.ts';
import { readMapBtf } from '../bpf/map-btf.ts';
import type { MapRef } from '../bpf/map-ref.ts';
import { type OpenIpcacheOptions, openIpcacheMap } from '../bpf/open-ipcache-map.ts';
import type { PinChoice } from '../bpf/pick-pin.ts';
import { walkMap } from '../bpf/walk.ts';
import { chooseLayout, type LayoutChoice, layoutFromEvidence } from './choose-layout.ts';
import type { Layout, LayoutName } from './layout.ts';
import { LayoutEvidence } from './layout-evidence.ts';

export interface OpenIpcache extends OpenIpcacheOptions {
  /** Absent: the pin of this node is looked for. */
  readonly ref?: MapRef | undefined;
  /** --layout. */
  readonly layout?: LayoutName | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class IpcacheMap implements Disposable {
  readonly map: BpfMap;
  readonly layoutChoice: LayoutChoice;
  /** How the pin was found; absent where the user named the map. */
  readonly choice: PinChoice | undefined;

  constructor(map: BpfMap, layoutChoice: LayoutChoice, choice?: PinChoice) {
    this.map = map;
    this.layoutChoice = layoutChoice;
    this.choice = choice;
  }

  get layout(): Layout {
    return this.layoutChoice.layout;
  }

  [Symbol.dispose](): void {
    this.map[Symbol.dispose]();
  }
}

/**
 * Opens the map and finds out its layout; a 12-byte map is walked for that unless the layout is named.
 * @throws what openIpcacheMap, chooseLayout and layoutFromEvidence throw; the map is closed then.
 */
export async function openIpcache(options: OpenIpcache): Promise<IpcacheMap> {
  const { map, choice } = openIpcacheMap(options.ref, options);
  try {
    return new IpcacheMap(
      map,
      knownLayoutOf(map, options.layout) ?? (await walkedLayoutOf(map, options.signal)),
      choice,
    );
  } catch (error) {
    map[Symbol.dispose]();
    throw error;
  }
}

/** The layout where it can be told without reading entries. @throws as chooseLayout */
export function knownLayoutOf(map: BpfMap, layout?: LayoutName): LayoutChoice | undefined {
  const { keyBytes, valueBytes } = map.info;
  const btf = layout === undefined ? readMapBtf(map) : undefined;
  return chooseLayout({ map: labelOf(map), keyBytes, valueBytes, ...(layout && { layout }), ...(btf && { btf }) });
}

/** The layout by everything the map holds. @throws as layoutFromEvidence */
export async function walkedLayoutOf(map: BpfMap, signal?: AbortSignal): Promise<LayoutChoice> {
  const evidence = new LayoutEvidence();
  for await (const batch of walkMap(map, { signal })) {
    evidence.observe(batch.keys, batch.values, batch.count, batch.firstNew);
  }
  return layoutFromEvidence(labelOf(map), evidence.counts);
}

/** The map as users name it: its pin, else `id:N`. */
export function labelOf(map: BpfMap): string {
  return map.path ?? `id:${map.info.id}`;
}
