/** The whole of a map at one moment, as far as a map that others change has one. */
import type { BpfMap } from '../bpf/map.ts';
import { walkMap } from '../bpf/walk.ts';
import { EntryTable } from '../ipcache/entry-table.ts';

export interface CapturedTable {
  readonly table: EntryTable;
  /** The walk covered the map. */
  readonly complete: boolean;
  /** Why it did not. */
  readonly reason?: string | undefined;
}

export interface CaptureOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called now and then with how many entries were read. */
  readonly onProgress?: ((seen: number) => void) | undefined;
}

/** An incomplete walk is worth another try, but a map that never rests must not keep us for ever. */
const TRIES = 3;

/** Walks the map, again where the walk did not cover it. @returns the last try. About 50 bytes an entry. */
export async function captureTable(map: BpfMap, options: CaptureOptions = {}): Promise<CapturedTable> {
  for (let tries = 1; ; tries++) {
    const captured = await captureOnce(map, options);
    if (captured.complete || tries === TRIES || options.signal?.aborted) return captured;
  }
}

async function captureOnce(map: BpfMap, { signal, onProgress }: CaptureOptions): Promise<CapturedTable> {
  const { valueBytes, maxEntries } = map.info;
  const table = new EntryTable(valueBytes, maxEntries);
  const walk = walkMap(map, { signal });
  for (let step = await walk.next(); ; step = await walk.next()) {
    if (step.done === true) return { table, complete: step.value.complete, reason: step.value.reason };
    const { keys, values, firstNew, count } = step.value;
    table.addRange(keys, values, firstNew, count);
    onProgress?.(table.count);
  }
}
