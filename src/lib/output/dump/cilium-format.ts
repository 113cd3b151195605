/**
 * `-o cilium`: what `cilium-dbg bpf ipcache list -o json` prints (Cilium 1.21-dev), for scripts that read it: one object,
 * each prefix with a list of one sentence, indented by two, with Go's escapes. Entries keep the order of the map.
 */
import { ciliumKeyString } from '../../ipcache/cilium-key.ts';
import { ciliumValueString } from '../../ipcache/cilium-value.ts';
import { decodeValue } from '../../ipcache/remote-endpoint-info.ts';
import { type DumpEnd, EntryFormat } from './entry-format.ts';

export class CiliumFormat extends EntryFormat {
  override begin(): void {
    this.appendText('{');
  }

  entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    const name = goJson(ciliumKeyString(keys, key, this.layout));
    const sentence = goJson(ciliumValueString(decodeValue(this.layout, values, value)));
    this.appendText(`${this.entries++ === 0 ? '' : ','}\n  ${name}: [\n    ${sentence}\n  ]`);
  }

  override end(end: DumpEnd): void {
    this.appendText(this.entries === 0 ? '}\n' : '\n}\n');
    super.end(end);
  }
}

/** Go's encoder escapes what could end a script element. */
function goJson(text: string): string {
  return JSON.stringify(text).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
