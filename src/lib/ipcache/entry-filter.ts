/**
 * Which entries a listing shows, decided on the bytes of a walk: kinds of criteria are joined by AND, the values of one
 * kind by OR. An empty filter costs nothing.
 */
import { type IdentityScope, scopeOf } from '../identity/numeric-identity.ts';
import { type Family, formatAddress, parseAddress } from '../net/address.ts';
import { containsPrefix, type Prefix, samePrefixBits } from '../net/prefix.ts';
import { type DecodedKey, decodeKey, encodeKey, keyPrefixlen } from './key.ts';
import type { Layout } from './layout.ts';
import { decodeValue, hasTunnel, type RemoteEndpointInfo, tunnelText } from './remote-endpoint-info.ts';

export interface EntryFilter {
  /** Entries whose prefix lies in one of these (or is it). */
  readonly within?: readonly Prefix[] | undefined;
  /** Entries whose prefix covers one of these, catch-alls included. */
  readonly contains?: readonly Prefix[] | undefined;
  readonly identity?: readonly number[] | undefined;
  readonly scope?: readonly IdentityScope[] | undefined;
  readonly family?: readonly Family[] | undefined;
  readonly cluster?: readonly number[] | undefined;
  /** Tunnel endpoints as text; `none` for entries without one. */
  readonly tunnel?: readonly string[] | undefined;
  /** Bits, each of which may come from several names; an entry needs any of them. */
  readonly flag?: readonly number[] | undefined;
  /** Decides on the labels of a number. */
  readonly label?: ((identity: number) => boolean) | undefined;
}

/** The offsets are where key and value of the entry begin. */
export type EntryPredicate = (keys: Uint8Array, key: number, values: Uint8Array, value: number) => boolean;

type KeyTest = (key: DecodedKey, keys: Uint8Array, offset: number) => boolean;
type ValueTest = (value: RemoteEndpointInfo) => boolean;

/** @returns undefined when everything passes. */
export function entryPredicate(layout: Layout, filter: EntryFilter): EntryPredicate | undefined {
  const keyTests = keyTestsOf(layout, filter);
  const valueTests = valueTestsOf(layout, filter);
  if (keyTests.length === 0 && valueTests.length === 0) return undefined;
  return (keys, key, values, value) => {
    if (valueTests.length > 0) {
      const info = decodeValue(layout, values, value);
      for (const test of valueTests) if (!test(info)) return false;
    }
    if (keyTests.length === 0) return true;
    const decoded = decodeKey(layout, keys, key);
    for (const test of keyTests) if (!test(decoded, keys, key)) return false;
    return true;
  };
}

function keyTestsOf(layout: Layout, { within, contains, family, cluster }: EntryFilter): KeyTest[] {
  const tests: KeyTest[] = [];
  if (within?.length) {
    tests.push(({ prefix }) => prefix !== undefined && within.some((outer) => containsPrefix(outer, prefix)));
  }
  if (contains?.length) {
    const inner = contains.map((prefix) => encodeKey(layout, prefix));
    tests.push((key, keys, offset) => !isDead(key) && inner.some((other) => coversKey(keys, offset, other)));
  }
  if (family?.length) tests.push((key) => key.family === 'any' || family.some((one) => one === key.family));
  if (cluster?.length) tests.push((key) => cluster.includes(key.clusterId));
  return tests;
}

function valueTestsOf(layout: Layout, { identity, scope, tunnel, flag, label }: EntryFilter): ValueTest[] {
  const tests: ValueTest[] = [];
  if (identity?.length) {
    const wanted = new Set(identity);
    tests.push((value) => wanted.has(value.identity));
  }
  if (scope?.length) tests.push((value) => scope.includes(scopeOf(value.identity)));
  if (flag?.length) tests.push((value) => flag.some((bits) => (value.flags & bits) !== 0));
  if (tunnel?.length) {
    const wanted = new Set(tunnel.map(canonicalAddress));
    tests.push((value) => wanted.has(hasTunnel(layout.value, value) ? tunnelText(value) : 'none'));
  }
  if (label !== undefined) tests.push((value) => label(value.identity));
  return tests;
}

function isDead(key: DecodedKey): boolean {
  return key.prefix === undefined && !key.warnings.includes('catch-all');
}

/** Whether all bits that the key counts agree with the other key; so a catch-all covers both families. */
function coversKey(keys: Uint8Array, offset: number, inner: Uint8Array): boolean {
  const bits = keyPrefixlen(keys, offset);
  return bits <= keyPrefixlen(inner, 0) && samePrefixBits(keys.subarray(offset + 4), inner.subarray(4), bits);
}

function canonicalAddress(text: string): string {
  const bytes = parseAddress(text);
  return bytes === undefined ? text : formatAddress(bytes);
}
