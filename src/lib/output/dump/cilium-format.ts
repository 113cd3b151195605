/**
 * `-o cilium`: what `cilium-dbg bpf ipcache list -o json` prints (Cilium 1.21-dev), for scripts that read it: one object,
 * each prefix with a list of one sentence, indented by two, with Go's escapes. Entries keep the order of the map, but for
 * keys that stand for no prefix: all of them have one of two names, and come last, each name once with all its sentences.
 */
import { ciliumKeyString } from '../../ipcache/cilium-key.ts';
import { ciliumValueString } from '../../ipcache/cilium-value.ts';
import { decodeValue } from '../../ipcache/remote-endpoint-info.ts';
import { type DumpEnd, EntryFormat } from './entry-format.ts';

export class CiliumFormat extends EntryFormat {
  readonly #nameless = new Map<string, string[]>();

  override begin(): void {
    this.appendText('{');
  }

  entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    const name = ciliumKeyString(keys, key, this.layout);
    const sentence = ciliumValueString(decodeValue(this.layout, values, value));
    if (name.includes('/')) {
      this.#add(name, [sentence]);
      return;
    }
    const known = this.#nameless.get(name);
    if (known === undefined) this.#nameless.set(name, [sentence]);
    else known.push(sentence);
  }

  #add(name: string, sentences: readonly string[]): void {
    const list = sentences.map((sentence) => `\n    ${goJson(sentence)}`).join(',');
    this.appendText(`${this.entries++ === 0 ? '' : ','}\n  ${goJson(name)}: [${list}\n  ]`);
  }

  override end(end: DumpEnd): void {
    for (const [name, sentences] of this.#nameless) this.#add(name, sentences);
    this.appendText(this.entries === 0 ? '}\n' : '\n}\n');
    super.end(end);
  }
}

/** Go's encoder escapes what could end a script element. */
function goJson(text: string): string {
  return JSON.stringify(text).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
