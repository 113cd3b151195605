import { describe, expect, it } from 'vitest';
import { Ipcache } from '../../../src/lib/cache/ipcache.ts';
import { CachingAllocator } from '../../../src/lib/identity/caching-allocator.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { restoreCache } from '../../../src/lib/listen/restore-cache.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import type { StateCheckpoint, StateIdentity } from '../../../src/lib/state/checkpoint.ts';

const TIME = '2026-01-01T00:00:00.000Z';

function stateOf(identities: readonly StateIdentity[]): StateCheckpoint {
  const placeholders = identities.flatMap(({ identity, prefixes }) =>
    prefixes.map((prefix) => ({ prefix, identity, time: TIME })),
  );
  const none = { ingress: [], sources: [], pending: [], collected: [] };
  return { pin: '/sys/fs/bpf/x', time: TIME, bootId: 'boot', identities, placeholders, ...none };
}

const known = (identity: number, labels: readonly string[], ...prefixes: string[]): StateIdentity => ({
  identity,
  labels,
  labelsFrom: 'allocator',
  prefixes,
});

async function restored(identities: readonly StateIdentity[]) {
  const allocator = new CachingAllocator();
  const cache = new Ipcache({ allocator });
  const layout = layoutNamed('v2');
  const { signal } = new AbortController();
  const previous = stateOf(identities);
  const result = await restoreCache({ cache, allocator, ipcache: undefined, layout, previous, time: TIME, signal });
  const numbers = () => Object.fromEntries([...cache.entries.entries()].map(([key, { identity }]) => [key, identity]));
  return { allocator, cache, numbers, ...result };
}

describe('restoreCache()', () => {
  it('gives every prefix its number, also where its labels would lead to another one', async () => {
    const { numbers, allocator, placeholders } = await restored([
      known(16777300, ['fqdn:wide.example', 'reserved:world-ipv4'], '10.3.2.0/24'),
      // Lies within the first one, whose label it has not.
      known(16777301, ['fqdn:narrow.example', 'reserved:world-ipv4'], '10.3.2.0/32', '192.0.2.0/24'),
      // Lies within the second one, and has all of its labels.
      known(16777302, ['fqdn:narrow.example', 'fqdn:other.example', 'reserved:world-ipv4'], '192.0.2.7/32'),
      // The labels of the first one, again.
      known(16777303, ['fqdn:wide.example', 'reserved:world-ipv4'], '198.51.100.0/24'),
    ]);
    expect(numbers()).toEqual({
      '10.3.2.0/24': 16777300,
      '10.3.2.0/32': 16777301,
      '192.0.2.0/24': 16777301,
      '192.0.2.7/32': 16777302,
      '198.51.100.0/24': 16777303,
    });
    expect([...placeholders]).toHaveLength(5);
    const other = allocator.allocateLocalIdentity(Labels.parse(['cidr:203.0.113.0/24', 'reserved:world-ipv4']));
    expect(Object.values(numbers())).not.toContain(Number(other.identity.id));
  });

  it('gives nobody else a number that it remembers without a prefix', async () => {
    const { allocator } = await restored([known(16777217, ['fqdn:gone.example', 'reserved:world-ipv4'])]);
    const other = allocator.allocateLocalIdentity(Labels.parse(['cidr:203.0.113.0/24', 'reserved:world-ipv4']));
    expect(Number(other.identity.id)).toBe(16777218);
  });

  it('gives such a prefix the number of what a source says of it', async () => {
    const { numbers, cache, claim } = await restored([
      known(16777300, ['fqdn:wide.example', 'reserved:world-ipv4'], '10.3.2.0/24'),
      known(16777301, ['fqdn:narrow.example', 'reserved:world-ipv4'], '10.3.2.0/32'),
      known(16777302, ['fqdn:narrow.example', 'fqdn:wide.example', 'reserved:world-ipv4'], '10.4.0.0/24'),
    ]);
    const prefix = parsePrefix('10.3.2.0/32');
    claim(prefix);
    const info = { labels: Labels.parse(['fqdn:narrow.example']) };
    cache.upsertMetadata([{ prefix, source: 'generated', resource: 'cnp/a/b', info }]);
    cache.injectNow();
    expect(numbers()['10.3.2.0/32']).toBe(16777302);
  });
});
