/** The table of `ipc dump`: columns of fixed width, so that the first row is printed before the last one is known. */
import { localIndex, scopeOf } from '../../identity/numeric-identity.ts';
import { reservedRow } from '../../identity/reserved.ts';
import { FAMILY_IPV4, KEY_BYTES } from '../../ipcache/layout.ts';
import { soundPrefixLength } from '../../ipcache/sound-key.ts';
import { escapeText } from '../escape.ts';
import { bytesOf, putBytes, putIPv4, putIPv6, putOctet, putU32 } from '../put.ts';
import { ENTRY_ROOM, EntryFormat, type FormatOptions } from './entry-format.ts';
import { LabelsCache } from './labels-cache.ts';
import { flagTexts, ValueFields } from './value-fields.ts';

const SPACE = 32;
const NEWLINE = 10;
const NONE = bytesOf('-');
const CLUSTER_AT = 64;

/** Wide enough for most of what stands in the column; longer text pushes the rest of its line to the right. */
const IPV4_PREFIX = 'PREFIX'.padEnd('255.255.255.255/32'.length);
const IPV6_PREFIX = 'PREFIX'.padEnd('fd00:1234:1234:1234:1234:1234:1234:1234/128'.length);
const IDENTITY = 'IDENTITY'.padEnd(10);
const SCOPE = 'SCOPE'.padEnd('remote-node 16777215'.length);
const TUNNEL = 'TUNNEL'.padEnd(15);
const KEY = 'KEY';
const FLAGS = 'FLAGS'.padEnd('hastunnel,ipv6tunnel'.length);
const LABELS = 'LABELS';

const WORDS = new Map(['reserved', 'global', 'unknown'].map((word) => [word, bytesOf(word)] as const));
const LOCAL = bytesOf('local ');
const REMOTE_NODE = bytesOf('remote-node ');

export class TableFormat extends EntryFormat {
  readonly #fields: ValueFields;
  readonly #flags: readonly Uint8Array[];
  readonly #labels: LabelsCache | undefined;
  readonly #reserved = new Map<number, Uint8Array>();
  #columns: readonly number[] = [];

  constructor(options: FormatOptions) {
    super(options);
    this.#fields = new ValueFields(options.layout);
    this.#flags = flagTexts(options.layout, (names) => names.join(',') || '-');
    this.#labels = options.labelsOf && new LabelsCache(options.labelsOf, (found) => escapeText(found.labels.join(' ')));
  }

  /** Prints the head. @param keys the first entries of the map: the prefix column is as wide as their family needs. */
  override begin(keys: Uint8Array = NONE): void {
    let ipv6 = false;
    for (let at = 0; at + KEY_BYTES <= keys.length; at += KEY_BYTES) ipv6 ||= keys[at + 7] !== FAMILY_IPV4;
    const titles = [ipv6 ? IPV6_PREFIX : IPV4_PREFIX, IDENTITY, SCOPE, TUNNEL, KEY, FLAGS];
    if (this.#labels) titles.push(LABELS);
    let start = 0;
    this.#columns = titles.map((title) => {
      const column = start;
      start += title.length + 2;
      return column;
    });
    this.appendText(`${titles.join('  ').trimEnd()}\n`);
  }

  entry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    this.reserve(ENTRY_ROOM);
    this.entries++;
    const out = this.out;
    const fields = this.#fields;
    const start = this.at;
    const identity = fields.identity(values, value);
    const length = soundPrefixLength(this.layout.key, keys, key);
    const odd = length < 0 ? this.decode(keys, key, values, value) : undefined;
    let at = odd === undefined ? this.#putPrefix(keys, key, length) : putBytes(out, start, bytesOf(odd.prefix));
    at = putU32(out, this.#pad(at, start, 1), identity);
    at = this.#putScope(this.#pad(at, start, 2), identity);
    at = this.#pad(at, start, 3);
    at = fields.hasTunnel(values, value) ? fields.putTunnel(out, at, values, value) : putBytes(out, at, NONE);
    at = putOctet(out, this.#pad(at, start, 4), fields.encryptKey(values, value));
    at = putBytes(out, this.#pad(at, start, 5), this.#flags[fields.flags(values, value)] as Uint8Array);
    const labels = this.#labels?.bytes(identity);
    if (labels !== undefined && labels.length > 0) {
      this.at = this.#pad(at, start, 6);
      this.append(labels);
      this.reserve(ENTRY_ROOM);
      at = this.at;
    }
    if (odd !== undefined && odd.warnings.length > 0) at = putBytes(out, at, bytesOf(`  ! ${odd.warnings.join(', ')}`));
    if (this.raw) {
      const raw = this.rawOf(keys, key, values, value);
      at = putBytes(out, at, bytesOf(`\n    key ${raw.key} value ${raw.value}`));
    }
    out[at] = NEWLINE;
    this.at = at + 1;
  }

  #putPrefix(keys: Uint8Array, key: number, length: number): number {
    const out = this.out;
    const address = key + 8;
    const ipv4 = keys[key + 7] === FAMILY_IPV4;
    let at = ipv4 ? putIPv4(out, this.at, keys, address) : putIPv6(out, this.at, keys, address);
    out[at] = 47;
    at = putOctet(out, at + 1, length);
    const cluster = this.clusterOf(keys, key);
    if (cluster === 0) return at;
    out[at] = CLUSTER_AT;
    return putU32(out, at + 1, cluster);
  }

  #putScope(at: number, identity: number): number {
    const scope = scopeOf(identity);
    if (scope === 'local') return putU32(this.out, putBytes(this.out, at, LOCAL), localIndex(identity));
    if (scope === 'remote-node') return putU32(this.out, putBytes(this.out, at, REMOTE_NODE), localIndex(identity));
    return putBytes(this.out, at, scope === 'reserved' ? this.#reservedName(identity) : (WORDS.get(scope) ?? NONE));
  }

  #reservedName(identity: number): Uint8Array {
    let name = this.#reserved.get(identity);
    if (name === undefined) {
      name = bytesOf(reservedRow(identity)?.name ?? 'reserved');
      this.#reserved.set(identity, name);
    }
    return name;
  }

  /** Fills up to the column; at least two spaces where the text before it is too long. */
  #pad(from: number, start: number, column: number): number {
    const to = Math.max(from + 2, start + (this.#columns[column] as number));
    this.out.fill(SPACE, from, to);
    return to;
  }
}
