/** `-o json` (a bare array, one entry a line) and `-o ndjson`. */
import { KEY_BYTES } from '../../ipcache/layout.ts';
import { soundPrefixLength } from '../../ipcache/sound-key.ts';
import { entryJson } from '../entry-json.ts';
import { safeJson } from '../escape.ts';
import { bytesOf, putBytes, putHex, putIPv4, putIPv6, putOctet, putU32 } from '../put.ts';
import { type DumpEnd, ENTRY_ROOM, EntryFormat, type FormatOptions } from './entry-format.ts';
import { LabelsCache } from './labels-cache.ts';
import { flagTexts, ValueFields } from './value-fields.ts';

const QUOTE = 34;
const SLASH = 47;
const COMMA = 44;
const NEWLINE = 10;

const PREFIX = bytesOf('{"prefix":"');
const CLUSTER = bytesOf(',"clusterId":');
const IPV4 = bytesOf(',"family":"ipv4","identity":');
const IPV6 = bytesOf(',"family":"ipv6","identity":');
const SCOPES = ['reserved', 'global', 'local', 'remote-node', 'unknown'].map((name) => bytesOf(`,"scope":"${name}"`));
const [RESERVED, GLOBAL, LOCAL, REMOTE_NODE, UNKNOWN] = SCOPES as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const TUNNEL = bytesOf(',"tunnelEndpoint":"');
const ENCRYPT_KEY = bytesOf(',"encryptKey":');
const KEY = bytesOf(',"key":"');
const VALUE = bytesOf('","value":"');
const AT = 64;

export interface JsonFormatOptions extends FormatOptions {
  /** One entry a line and nothing around them. */
  readonly lines?: boolean;
  /** With `lines`: a last line that says how the walk ended. */
  readonly trailer?: boolean;
}

export class JsonFormat extends EntryFormat {
  readonly #fields: ValueFields;
  readonly #flags: readonly Uint8Array[];
  readonly #labels: LabelsCache | undefined;
  readonly #lines: boolean;
  readonly #trailer: boolean;

  constructor(options: JsonFormatOptions) {
    super(options);
    this.#fields = new ValueFields(options.layout);
    this.#flags = flagTexts(options.layout, (names) => `,"flags":${JSON.stringify(names)}`);
    this.#labels =
      options.labelsOf && new LabelsCache(options.labelsOf, (labels) => `,${safeJson(labels).slice(1, -1)}`);
    this.#lines = options.lines ?? false;
    this.#trailer = options.trailer ?? false;
  }

  override begin(): void {
    if (!this.#lines) this.appendText('[');
  }

  entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    this.#separate();
    const length = soundPrefixLength(this.layout.key, keys, key);
    if (length < 0) this.#odd(keys, key, values, value);
    else this.#sound(keys, key, values, value, length);
    if (this.#lines) this.out[this.at++] = NEWLINE;
  }

  override end(end: DumpEnd): void {
    if (!this.#lines) this.appendText(this.entries === 0 ? ']\n' : '\n]\n');
    else if (this.#trailer) this.appendText(`${JSON.stringify({ end: true, ...end })}\n`);
    super.end(end);
  }

  #separate(): void {
    this.reserve(ENTRY_ROOM);
    if (!this.#lines) {
      if (this.entries > 0) this.out[this.at++] = COMMA;
      this.out[this.at++] = NEWLINE;
    }
    this.entries++;
  }

  /** Dead, catch-all and otherwise remarkable entries, one by one through the decoder. */
  #odd(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    const entry = this.decode(keys, key, values, value);
    const labels = this.labelsOf?.(entry.identity);
    const raw = this.raw ? this.rawOf(keys, key, values, value) : undefined;
    this.appendText(safeJson(entryJson(entry, { labels, raw })));
    this.reserve(1);
  }

  #sound(keys: Uint8Array, key: number, values: Uint8Array, value: number, length: number): void {
    const fields = this.#fields;
    const identity = fields.identity(values, value);
    const labels = this.#labels?.bytes(identity);
    const out = this.out;
    let at = putBytes(out, this.at, PREFIX);
    const ipv4 = keys[key + 7] === 1;
    at = ipv4 ? putIPv4(out, at, keys, key + 8) : putIPv6(out, at, keys, key + 8);
    out[at] = SLASH;
    at = this.#putCluster(putOctet(out, at + 1, length), keys, key);
    at = putU32(out, putBytes(out, at, ipv4 ? IPV4 : IPV6), identity);
    at = putBytes(out, at, scopeText(identity));
    if (labels !== undefined && labels.length > 0) {
      this.at = at;
      this.append(labels);
      this.reserve(ENTRY_ROOM);
      at = this.at;
    }
    if (fields.hasTunnel(values, value)) {
      at = fields.putTunnel(out, putBytes(out, at, TUNNEL), values, value);
      out[at++] = QUOTE;
    }
    at = putOctet(out, putBytes(out, at, ENCRYPT_KEY), fields.encryptKey(values, value));
    at = putBytes(out, at, this.#flags[fields.flags(values, value)] as Uint8Array);
    if (this.raw) {
      at = putHex(out, putBytes(out, at, KEY), keys, key, KEY_BYTES);
      at = putHex(out, putBytes(out, at, VALUE), values, value, this.layout.value.bytes);
      out[at++] = QUOTE;
    }
    out[at] = 125;
    this.at = at + 1;
  }

  /** Closes the prefix, with the cluster where there is one. */
  #putCluster(start: number, keys: Uint8Array, key: number): number {
    const out = this.out;
    let at = start;
    const cluster = this.clusterOf(keys, key);
    if (cluster === 0) {
      out[at] = QUOTE;
      return at + 1;
    }
    out[at] = AT;
    at = putU32(out, at + 1, cluster);
    out[at] = QUOTE;
    return putU32(out, putBytes(out, at + 1, CLUSTER), cluster);
  }
}

function scopeText(identity: number): Uint8Array {
  switch (identity >>> 24) {
    case 0:
      return identity < 256 ? RESERVED : GLOBAL;
    case 1:
      return LOCAL;
    case 2:
      return REMOTE_NODE;
    default:
      return UNKNOWN;
  }
}
