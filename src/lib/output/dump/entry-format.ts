/**
 * What every format of `ipc dump` shares: entries come as bytes, text leaves as bytes in large pieces. A format writes an
 * entry with the functions of put.ts into the buffer here and never builds an object for the ordinary ones.
 */
import { decodeEntry, type IpcacheEntry } from '../../ipcache/entry.ts';
import { hexOf, keyClusterId } from '../../ipcache/key.ts';
import { KEY_BYTES, type Layout } from '../../ipcache/layout.ts';
import type { ByteWriter } from '../byte-writer.ts';
import type { EntryLabels } from '../entry-json.ts';

/** Finds the labels of a number; undefined where nobody knows them. */
export type LabelsOf = (identity: number) => EntryLabels | undefined;

export interface FormatOptions {
  readonly layout: Layout;
  readonly writer: ByteWriter;
  /** Joins labels; without it entries have none. */
  readonly labelsOf?: LabelsOf | undefined;
  /** Adds the bytes of key and value. */
  readonly raw?: boolean | undefined;
}

/** How a walk ended, for formats that say so. */
export interface DumpEnd {
  readonly entries: number;
  readonly complete: boolean;
}

/** Large enough that one write(2) costs nothing, small enough to stay in the cache. */
const BUFFER_BYTES = 256 * 1024;
/** More than any ordinary entry needs without its labels. */
export const ENTRY_ROOM = 640;

export abstract class EntryFormat {
  protected readonly layout: Layout;
  protected readonly labelsOf: LabelsOf | undefined;
  protected readonly raw: boolean;
  protected readonly out = new Uint8Array(BUFFER_BYTES);
  protected at = 0;
  protected entries = 0;
  readonly #writer: ByteWriter;

  constructor(options: FormatOptions) {
    this.layout = options.layout;
    this.labelsOf = options.labelsOf;
    this.raw = options.raw ?? false;
    this.#writer = options.writer;
  }

  /** Before the first entry. @param _keys those of the first entries, as a sample for formats that need widths. */
  begin(_keys?: Uint8Array): void {}

  /** Formats the entry whose bytes begin at the offsets. */
  abstract entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void;

  /** After the last entry; everything is with the writer when it returns. */
  end(_end: DumpEnd): void {
    this.flush();
  }

  /** Passes on what has been formatted so far. */
  flush(): void {
    if (this.at > 0) this.#writer.write(this.out.subarray(0, this.at));
    this.at = 0;
  }

  /** Makes room for that many bytes; more than the buffer holds must go through {@link append}. */
  protected reserve(bytes: number): void {
    if (this.at + bytes > BUFFER_BYTES) this.flush();
  }

  /** Bytes of any length. */
  protected append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    if (bytes.length > BUFFER_BYTES) this.#writer.write(bytes);
    else {
      this.out.set(bytes, this.at);
      this.at += bytes.length;
    }
  }

  protected appendText(text: string): void {
    this.append(Buffer.from(text));
  }

  protected clusterOf(keys: Uint8Array, key: number): number {
    return keyClusterId(this.layout, keys, key);
  }

  protected decode(keys: Uint8Array, key: number, values: Uint8Array, value: number): IpcacheEntry {
    return decodeEntry(this.layout, { keys, keyOffset: key, values, valueOffset: value });
  }

  protected rawOf(keys: Uint8Array, key: number, values: Uint8Array, value: number) {
    return { key: hexOf(keys, key, KEY_BYTES), value: hexOf(values, value, this.layout.value.bytes) };
  }
}
