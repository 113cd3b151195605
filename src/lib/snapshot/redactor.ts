/**
 * Makes what names somebody unreadable, the same way every time for one key: addresses, label values, names. What matters
 * for finding faults stays: which prefix covers which, lengths, default routes, identities, label sources and keys.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import {
  formatLabel,
  type Label,
  parseLabel,
  SOURCE_CIDR,
  SOURCE_CIDR_GROUP,
  SOURCE_FQDN,
  SOURCE_RESERVED,
} from '../identity/label.ts';
import { labelKeyOf, parseLabelCidr } from '../identity/label-cidr.ts';
import { compareText } from '../identity/utf8-text.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import { formatPrefix, makePrefix } from '../net/prefix.ts';
import { ADDRESS_KEY_BYTES, AddressRedactor } from './redact-address.ts';
import { parseStoredPrefix } from './stored-prefix.ts';

/** Where the key of a CIDR group's label holds the name of the group. */
const GROUP_NAME = 'io.cilium.policy.cidrgroupname/';
const NAME_LETTERS = 12;

export class Redactor {
  readonly addresses: AddressRedactor;
  readonly #nameKey: Uint8Array;
  readonly #names = new Map<string, string>();

  /** @param key 32 secret bytes */
  constructor(key: Uint8Array) {
    const derive = (use: string): Uint8Array => new Uint8Array(hkdfSync('sha256', key, '', use, ADDRESS_KEY_BYTES));
    this.addresses = new AddressRedactor(derive('addresses'));
    this.#nameKey = derive('names');
  }

  /** A name of any kind (node, cluster, namespace, pod, label value): one text, one replacement. Empty stays empty. */
  name(text: string): string {
    if (text === '') return '';
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    // Upper-case letters only: no name of Kubernetes, no number and no address can stand in them by chance.
    let rest = createHmac('sha256', this.#nameKey).update(text).digest().readBigUInt64LE();
    let letters = '';
    for (; letters.length < NAME_LETTERS; rest /= 26n) letters += String.fromCharCode(65 + Number(rest % 26n));
    const name = `X-${letters}`;
    this.#names.set(text, name);
    return name;
  }

  /** An address, such as a tunnel endpoint. What is no address is replaced as a name. */
  address(text: string): string {
    const bytes = parseAddress(text);
    return bytes === undefined ? this.name(text) : formatAddress(this.addresses.redactHost(bytes));
  }

  /** `ADDR/LEN` with or without `@CLUSTER`. What is no prefix is replaced as a name. */
  prefix(text: string): string {
    const prefix = parseStoredPrefix(text);
    if (prefix === undefined) return this.name(text);
    const { address, length, clusterId } = prefix;
    return formatPrefix(makePrefix(this.addresses.redact(address, length), length, clusterId));
  }

  /** `source:key=value`. */
  label(text: string): string {
    const label = parseLabel(text);
    if (label.source === SOURCE_RESERVED) return text;
    return formatLabel({ source: label.source, key: this.#labelKey(label), value: this.name(label.value) });
  }

  /** A set of labels, in canonical order again. */
  labels(texts: readonly string[]): string[] {
    const redacted = texts.map((text) => this.label(text));
    const keys = new Map(redacted.map((text) => [text, parseLabel(text).key]));
    return redacted.sort((a, b) => compareText(keys.get(a) ?? '', keys.get(b) ?? ''));
  }

  #labelKey({ source, key }: Label): string {
    if (source === SOURCE_FQDN) return this.name(key);
    if (source === SOURCE_CIDR_GROUP && key.startsWith(GROUP_NAME)) {
      return GROUP_NAME + this.name(key.slice(GROUP_NAME.length));
    }
    if (source !== SOURCE_CIDR) return key;
    const cidr = parseLabelCidr(key);
    if (cidr === undefined) return this.name(key);
    return labelKeyOf({ address: this.addresses.redact(cidr.address, cidr.length), length: cidr.length });
  }
}
