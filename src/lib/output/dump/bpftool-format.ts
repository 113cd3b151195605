/** `-o bpftool`: the bytes as `bpftool -j map dump` prints them for a map without BTF, on one line. */
import { KEY_BYTES } from '../../ipcache/layout.ts';
import { bytesOf, putBytes, putHex } from '../put.ts';
import { type DumpEnd, EntryFormat } from './entry-format.ts';

const KEY = bytesOf('{"key":[');
const VALUE = bytesOf('],"value":[');
const END = bytesOf(']}');
const COMMA = 44;
/** `"0x00",` */
const BYTE_TEXT = 7;
const ROOM = (KEY_BYTES + 24) * BYTE_TEXT + 32;

export class BpftoolFormat extends EntryFormat {
  override begin(): void {
    this.appendText('[');
  }

  entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    this.reserve(ROOM);
    if (this.entries++ > 0) this.out[this.at++] = COMMA;
    this.at = putBytes(this.out, this.at, KEY);
    this.#bytes(keys, key, KEY_BYTES);
    this.at = putBytes(this.out, this.at, VALUE);
    this.#bytes(values, value, this.layout.value.bytes);
    this.at = putBytes(this.out, this.at, END);
  }

  override end(end: DumpEnd): void {
    this.appendText(']\n');
    super.end(end);
  }

  #bytes(bytes: Uint8Array, offset: number, length: number): void {
    const out = this.out;
    let at = this.at;
    for (let i = 0; i < length; i++) {
      if (i > 0) out[at++] = COMMA;
      at = putBytes(out, at, BYTE_OPEN);
      at = putHex(out, at, bytes, offset + i, 1);
      out[at++] = 34;
    }
    this.at = at;
  }
}

const BYTE_OPEN = bytesOf('"0x');
