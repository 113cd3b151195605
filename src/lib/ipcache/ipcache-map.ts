/** An open ipcache map together with the layout of its entries: what every command that reads or writes one works on. */
import type { BpfMap } from '../bpf/map.ts';
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
    return new IpcacheMap(map, await layoutOf(map, options), choice);
  } catch (error) {
    map[Symbol.dispose]();
    throw error;
  }
}

async function layoutOf(map: BpfMap, { layout, signal }: OpenIpcache): Promise<LayoutChoice> {
  const { keyBytes, valueBytes } = map.info;
  const chosen = chooseLayout({ map: map.label, keyBytes, valueBytes, ...(layout && { layout }) });
  if (chosen !== undefined) return chosen;
  const evidence = new LayoutEvidence();
  for await (const batch of walkMap(map, { signal })) {
    evidence.observe(batch.keys, batch.values, batch.count, batch.firstNew);
  }
  return layoutFromEvidence(map.label, evidence.counts);
}
