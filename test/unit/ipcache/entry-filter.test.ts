import { describe, expect, it } from 'vitest';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { type EntryFilter, entryPredicate } from '../../../src/lib/ipcache/entry-filter.ts';
import { encodeKey } from '../../../src/lib/ipcache/key.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { encodeValue, newRemoteEndpointInfo } from '../../../src/lib/ipcache/remote-endpoint-info.ts';
import { parseAddress } from '../../../src/lib/net/address.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';

const layout = layoutNamed('v2');

function key(text: string): Uint8Array {
  return text.startsWith('0x')
    ? Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
    : encodeKey(layout, parsePrefix(text));
}

function value(identity: number, tunnel?: string, flags = 0): Uint8Array {
  const address = tunnel === undefined ? undefined : parseAddress(tunnel);
  return encodeValue(
    layout,
    newRemoteEndpointInfo(layout, { identity: numericIdentity(identity), flags, ...(address && { tunnel: address }) }),
  );
}

const zeros = (count: number): string => '00'.repeat(count);
const CATCH_ALL = `0x10000000${zeros(20)}`;
const DEAD = `0x66000000000000010a000000${zeros(12)}`;

const ENTRIES: readonly (readonly [string, Uint8Array])[] = [
  ['10.0.0.0/8', value(2)],
  ['10.1.0.0/16', value(16777217, '192.0.2.1')],
  ['10.1.2.3/32@7', value(300, undefined, 1)],
  ['fd00::/16', value(33554433, 'fd00::9')],
  [CATCH_ALL, value(6)],
  [DEAD, value(7, undefined, 0x80)],
];

function pass(filter: EntryFilter): string[] {
  const accepts = entryPredicate(layout, filter);
  return ENTRIES.filter(([text, bytes]) => accepts?.(key(text), 0, bytes, 0) ?? true).map(([text]) => text);
}

describe('entryPredicate()', () => {
  it('is nothing at all for an empty filter', () => {
    expect(entryPredicate(layout, {})).toBeUndefined();
    expect(entryPredicate(layout, { within: [], identity: [] })).toBeUndefined();
  });

  it.each<[string, EntryFilter, string[]]>([
    ['within', { within: [parsePrefix('10.0.0.0/8')] }, ['10.0.0.0/8', '10.1.0.0/16']],
    ['within another cluster', { within: [parsePrefix('10.0.0.0/8@7')] }, ['10.1.2.3/32@7']],
    ['contains', { contains: [parsePrefix('10.1.2.3')] }, ['10.0.0.0/8', '10.1.0.0/16', CATCH_ALL]],
    ['contains an IPv6 address', { contains: [parsePrefix('fd00::1')] }, ['fd00::/16', CATCH_ALL]],
    ['contains, in another cluster', { contains: [parsePrefix('10.1.2.3@7')] }, ['10.1.2.3/32@7']],
    ['several identities', { identity: [2, 300] }, ['10.0.0.0/8', '10.1.2.3/32@7']],
    ['scope', { scope: ['local', 'remote-node'] }, ['10.1.0.0/16', 'fd00::/16']],
    ['family', { family: ['ipv6'] }, ['fd00::/16', CATCH_ALL]],
    ['cluster', { cluster: [7] }, ['10.1.2.3/32@7']],
    ['tunnel, spelled otherwise', { tunnel: ['FD00:0::9', '192.0.2.1'] }, ['10.1.0.0/16', 'fd00::/16']],
    ['no tunnel', { tunnel: ['none'], scope: ['reserved'] }, ['10.0.0.0/8', CATCH_ALL, DEAD]],
    ['flag', { flag: [1, 0x80] }, ['10.1.2.3/32@7', DEAD]],
    ['label', { label: (identity) => identity === 6 }, [CATCH_ALL]],
    ['two kinds together', { within: [parsePrefix('10.0.0.0/8')], identity: [2, 300] }, ['10.0.0.0/8']],
  ])('passes by %s', (_, filter, expected) => {
    expect(pass(filter)).toEqual(expected);
  });
});
