/** Entries in memory as the lines of a snapshot. */
import { prefixOrder } from '../ipcache/entry-order.ts';
import type { EntryTable } from '../ipcache/entry-table.ts';
import { FLAG, KEY_BYTES, type Layout } from '../ipcache/layout.ts';

/** Writes entries as lines of JSON. */
export interface LineFormat {
  entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void;
  /** Passes on what was formatted so far. */
  flush(): void;
}

/**
 * Makes a format.
 * @param raw with the bytes of key and value
 * @param write takes bytes that are only valid during the call
 */
export type MakeLineFormat = (layout: Layout, raw: boolean, write: (bytes: Uint8Array) => void) => LineFormat;

/** Entries formatted between two pieces. */
const STEP = 2048;

/**
 * The entries in the order of a snapshot.
 * @param table as one walk filled it
 * @yields whole lines, valid until the next step
 */
export function* tableLines(table: EntryTable, layout: Layout, make: MakeLineFormat): Generator<Uint8Array, void> {
  const out = new Gathered();
  const plain = make(layout, false, (bytes) => out.add(bytes));
  const raw = make(layout, true, (bytes) => out.add(bytes));
  const { keys, values, valueBytes } = table;
  const hidden = hiddenTunnels(table, layout);
  const order = prefixOrder(table, layout);
  for (let from = 0; from < order.length; from += STEP) {
    for (const entry of order.subarray(from, from + STEP)) {
      const bytes = [keys, entry * KEY_BYTES, values, entry * valueBytes] as const;
      if (!hidden.has(entry)) {
        plain.entry(...bytes);
        continue;
      }
      plain.flush();
      raw.entry(...bytes);
      raw.flush();
    }
    plain.flush();
    yield out.take();
  }
}

/** Entries whose tunnel bytes no field shows, as the datapath does not use them. Restoring goes by the bytes. */
function hiddenTunnels({ values, valueBytes, count }: EntryTable, layout: Layout): ReadonlySet<number> {
  const hidden = new Set<number>();
  const { flags, tunnel, knownFlags } = layout.value;
  if (flags === undefined || tunnel === undefined || (knownFlags & FLAG.hastunnel) === 0) return hidden;
  for (let entry = 0; entry < count; entry++) {
    const value = entry * valueBytes;
    if (((values[value + flags] as number) & FLAG.hastunnel) !== 0) continue;
    for (let i = value + tunnel.offset; i < value + tunnel.offset + tunnel.bytes; i++) {
      if (values[i] === 0) continue;
      hidden.add(entry);
      break;
    }
  }
  return hidden;
}

/** Bytes one after the other. */
class Gathered {
  #bytes = Buffer.alloc(1 << 19);
  #length = 0;

  add(bytes: Uint8Array): void {
    const end = this.#length + bytes.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(end * 2);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = end;
  }

  /** What was added since the last time; overwritten by the next. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return bytes;
  }
}
