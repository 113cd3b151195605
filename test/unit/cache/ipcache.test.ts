import { describe, expect, test } from 'vitest';
import type { DirectValue } from '../../../src/lib/cache/entry-store.ts';
import { Ipcache } from '../../../src/lib/cache/ipcache.ts';
import type { IpcacheEvent } from '../../../src/lib/cache/listener.ts';
import {
  keysOfIdentity,
  lookupAddress,
  lookupKey,
  metadataLabelsOf,
  prefixesOfHost,
} from '../../../src/lib/cache/lookup.ts';
import type { CacheProblem } from '../../../src/lib/cache/problem.ts';
import type { MetadataInfo } from '../../../src/lib/cache/resource-info.ts';
import { CachingAllocator } from '../../../src/lib/identity/caching-allocator.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { labelsModel } from '../../../src/lib/identity/labels-format.ts';
import { parseAddress } from '../../../src/lib/net/address.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';

class Fixture {
  readonly problems: CacheProblem[] = [];
  readonly events: IpcacheEvent[] = [];
  readonly allocator = new CachingAllocator();
  readonly cache = new Ipcache({ allocator: this.allocator, onProblem: (problem) => this.problems.push(problem) });

  constructor() {
    this.cache.addListener({ onIpcacheEvent: (event) => this.events.push(event) });
  }

  metadata(prefix: string, resource: string, source: string, info: MetadataInfo | readonly string[]): void {
    const given = Array.isArray(info) ? { labels: Labels.parse(info) } : (info as MetadataInfo);
    this.cache.upsertMetadata([{ prefix: parsePrefix(prefix), resource, source, info: given }]);
    this.cache.injectNow();
  }

  removeMetadata(prefix: string, resource: string): void {
    const what = ['labels', 'tunnelPeer', 'encryptKey', 'endpointFlags'] as const;
    this.cache.removeMetadata([{ prefix: parsePrefix(prefix), resource, what }]);
    this.cache.injectNow();
  }

  /** What listeners heard since the last time. */
  said(): string[] {
    return this.events
      .splice(0)
      .map(({ kind, prefix, entry: { identity, source, hostIP = '-', encryptKey, endpointFlags } }) =>
        [kind, prefix, identity, source, hostIP, encryptKey, endpointFlags].join(' '),
      );
  }
}

const value = (identity: number, source: string, more: Partial<DirectValue> = {}): DirectValue => ({
  identity,
  source,
  ...more,
});

describe('values of several owners', () => {
  test('a stronger source is seen, a delete reveals the next weaker one', () => {
    const { cache, said } = bind(new Fixture());
    expect(cache.upsert('10.0.0.1', value(1000, 'kvstore'))).toEqual({ kind: 'applied', namedPortsChanged: false });
    expect(cache.upsert('10.0.0.1', value(1001, 'k8s'))).toEqual({ kind: 'outranked', by: 'kvstore' });
    cache.upsert('10.0.0.1', value(1002, 'local'));
    expect(said()).toEqual(['upsert 10.0.0.1/32 1000 kvstore - 0 0', 'upsert 10.0.0.1/32 1002 local - 0 0']);
    expect(cache.delete('10.0.0.1', { source: 'kvstore' }).kind).toBe('deleted');
    expect(said()).toEqual([]);
    cache.delete('10.0.0.1', { source: 'local' });
    cache.delete('10.0.0.1', { source: 'k8s' });
    expect(said()).toEqual(['upsert 10.0.0.1/32 1001 k8s - 0 0', 'delete 10.0.0.1/32 1001 k8s - 0 0']);
  });

  test('two instances of one source do not delete for each other', () => {
    const { cache, said } = bind(new Fixture());
    cache.upsert('10.0.0.1', value(1000, 'clustermesh'), { owner: 'east' });
    cache.upsert('10.0.0.1', value(1001, 'clustermesh'), { owner: 'west' });
    expect(cache.delete('10.0.0.1', { source: 'clustermesh', owner: 'north' }).kind).toBe('not-owner');
    cache.delete('10.0.0.1', { source: 'clustermesh', owner: 'east' });
    expect(said()).toHaveLength(2);
    expect(cache.get('10.0.0.1')?.identity).toBe(1001);
  });

  test('op 40 a late delete that expects another identity deletes nothing', () => {
    const { cache } = new Fixture();
    cache.upsert('10.0.0.1', value(1234, 'kvstore'));
    cache.upsert('10.0.0.1', value(4321, 'kvstore'));
    expect(cache.delete('10.0.0.1', { source: 'kvstore', expectIdentity: 1234 })).toEqual({ kind: 'stale' });
    expect(cache.get('10.0.0.1')?.identity).toBe(4321);
  });

  test('op 44 an equal value is no event, another key alone is one', () => {
    const { cache, said } = bind(new Fixture());
    const host = { hostIP: '192.0.2.1', encryptKey: 3 };
    cache.upsert('10.0.0.1', value(1000, 'kvstore', host));
    expect(cache.upsert('10.0.0.1', value(1000, 'kvstore', host)).kind).toBe('unchanged');
    cache.upsert('10.0.0.1', value(1000, 'kvstore', { ...host, encryptKey: 4 }));
    expect(said()).toEqual([
      'upsert 10.0.0.1/32 1000 kvstore 192.0.2.1 3 0',
      'upsert 10.0.0.1/32 1000 kvstore 192.0.2.1 4 0',
    ]);
  });

  test('a delete of an unknown key is a problem that is told', () => {
    const { cache, problems } = new Fixture();
    expect(cache.delete('10.0.0.1', { source: 'kvstore' })).toEqual({ kind: 'unknown' });
    expect(problems).toEqual([{ kind: 'unknown-key', key: '10.0.0.1' }]);
  });

  test('when metadata leaves an entry, its direct owner has it back with its own value', () => {
    const fixture = new Fixture();
    const { cache } = fixture;
    cache.upsert('10.0.0.0/24', value(1000, 'generated', { hostIP: '192.0.2.1' }));
    fixture.metadata('10.0.0.0/24', 'ep//k', 'kube-apiserver', ['reserved:kube-apiserver']);
    fixture.said();
    fixture.removeMetadata('10.0.0.0/24', 'ep//k');
    expect(fixture.said()).toEqual(['upsert 10.0.0.0/24 1000 generated 192.0.2.1 0 0']);
    expect([...fixture.allocator.identities()]).toEqual([]);
  });

  test('a pod that a direct owner gave is still known when metadata outranks it', () => {
    const fixture = new Fixture();
    const pod = { namespace: 'shop', name: 'cart-0' };
    fixture.cache.upsert('10.0.0.1/32', value(1000, 'k8s', { pod }));
    fixture.metadata('10.0.0.1/32', 'ep//k', 'kube-apiserver', ['reserved:kube-apiserver']);
    expect(fixture.cache.get('10.0.0.1/32')).toMatchObject({ source: 'kube-apiserver', pod });
  });
});

describe('an endpoint and the prefix of its address', () => {
  test('the endpoint hides the prefix, which comes back with its own key and flags', () => {
    const fixture = new Fixture();
    fixture.metadata('10.0.0.1/32', 'node//n', 'custom-resource', {
      labels: Labels.parse(['fqdn:x']),
      tunnelPeer: '192.0.2.9',
      encryptKey: 3,
      endpointFlags: 1,
    });
    fixture.cache.upsert('10.0.0.1', value(1000, 'kvstore'));
    fixture.metadata('10.0.0.1/32', 'node//n', 'custom-resource', { encryptKey: 4 });
    fixture.cache.delete('10.0.0.1', { source: 'kvstore' });
    expect(fixture.said()).toEqual([
      'upsert 10.0.0.1/32 16777217 custom-resource 192.0.2.9 3 1',
      'upsert 10.0.0.1/32 1000 kvstore - 0 0',
      'upsert 10.0.0.1/32 16777217 custom-resource 192.0.2.9 4 1',
    ]);
  });

  test('deleting a shorter prefix at the address of an endpoint is told', () => {
    const { cache, said } = bind(new Fixture());
    cache.upsert('10.0.0.0/24', value(900, 'kvstore'));
    cache.upsert('10.0.0.0', value(1000, 'kvstore'));
    said();
    cache.delete('10.0.0.0/24', { source: 'kvstore' });
    expect(said()).toEqual(['delete 10.0.0.0/24 900 kvstore - 0 0']);
  });

  test('an endpoint over an equal prefix with another key is told: else traffic would go in plaintext', () => {
    const { cache, said } = bind(new Fixture());
    const host = { hostIP: '192.0.2.1' };
    cache.upsert('10.0.0.1/32', value(1000, 'kvstore', host));
    cache.upsert('10.0.0.1', value(1000, 'local', host));
    expect(said()).toHaveLength(1);
    cache.delete('10.0.0.1', { source: 'local' });
    cache.upsert('10.0.0.1', value(1000, 'kvstore', { ...host, encryptKey: 7 }));
    expect(said()).toEqual(['upsert 10.0.0.1/32 1000 kvstore 192.0.2.1 7 0']);
  });

  test('a new listener hears of what is seen, once each', () => {
    const { cache } = new Fixture();
    cache.upsert('10.0.0.1/32', value(900, 'kvstore'));
    cache.upsert('10.0.0.1', value(900, 'kvstore'));
    cache.upsert('10.0.0.1/32@2', value(901, 'clustermesh'));
    const heard: string[] = [];
    const listener = { onIpcacheEvent: ({ prefix, entry }: IpcacheEvent) => heard.push(`${prefix} ${entry.identity}`) };
    cache.addListener(listener);
    expect(heard).toEqual(['10.0.0.1/32 900', '10.0.0.1/32@2 901']);
    cache.removeListener(listener);
    cache.delete('10.0.0.1', { source: 'kvstore' });
    expect(heard).toHaveLength(2);
  });

  test('what a listener was given does not change behind its back', () => {
    const { cache, events } = new Fixture();
    cache.upsert('10.0.0.1', value(1000, 'kvstore'));
    const [first] = events;
    const kept = cache.get('10.0.0.1');
    cache.upsert('10.0.0.1', value(1001, 'kvstore'));
    expect([first?.entry.identity, kept?.identity]).toEqual([1000, 1000]);
    expect(events[1]).toMatchObject({ old: { identity: 1000 }, entry: { identity: 1001 } });
  });
});

describe('metadata', () => {
  test('when the winning resource leaves, the entry takes what is left, also with the same identity', () => {
    const fixture = new Fixture();
    const labels = Labels.parse(['cidr:10.0.0.0/24']);
    fixture.metadata('10.0.0.0/24', 'node//a', 'custom-resource', { labels, tunnelPeer: '192.0.2.1', encryptKey: 1 });
    fixture.metadata('10.0.0.0/24', 'node//b', 'generated', { labels, tunnelPeer: '192.0.2.2', endpointFlags: 8 });
    fixture.said();
    fixture.removeMetadata('10.0.0.0/24', 'node//a');
    expect(fixture.said()).toEqual(['upsert 10.0.0.0/24 16777217 generated 192.0.2.2 0 8']);
  });

  test('a disagreement is told once, and again after it was over', () => {
    const fixture = new Fixture();
    const conflicts = () =>
      fixture.problems.splice(0).map((problem) => (problem.kind === 'conflict' ? problem.conflict : problem));
    fixture.metadata('10.0.0.0/24', 'a//a', 'k8s', { tunnelPeer: '192.0.2.1' });
    fixture.metadata('10.0.0.0/24', 'b//b', 'k8s', { tunnelPeer: '192.0.2.2' });
    fixture.metadata('10.0.0.0/24', 'b//b', 'k8s', ['fqdn:x']);
    expect(conflicts()).toEqual([{ kind: 'tunnelPeer', winner: 'a//a', loser: 'b//b' }]);
    fixture.metadata('10.0.0.0/24', 'c//c', 'k8s', ['cidrgroup:x']);
    expect(conflicts()).toEqual([{ kind: 'labels', winner: 'b//b', loser: 'c//c', key: 'x' }]);
    fixture.metadata('10.0.0.0/24', 'b//b', 'k8s', { tunnelPeer: '192.0.2.1' });
    fixture.metadata('10.0.0.0/24', 'b//b', 'k8s', { tunnelPeer: '192.0.2.3' });
    expect(conflicts()).toEqual([{ kind: 'tunnelPeer', winner: 'a//a', loser: 'b//b' }]);
  });

  test('an endpoint flag that is set to nothing hides those of weaker resources', () => {
    const fixture = new Fixture();
    fixture.metadata('10.0.0.0/24', 'a//a', 'k8s', { endpointFlags: 0 });
    fixture.metadata('10.0.0.0/24', 'b//b', 'generated', { endpointFlags: 8 });
    expect(fixture.cache.get('10.0.0.0/24')?.endpointFlags).toBe(0);
  });

  test('a withheld number is not given to other labels, even to a prefix that asks for it', () => {
    const fixture = new Fixture();
    const { allocator } = fixture;
    fixture.metadata('10.0.0.1/32', 'daemon//restored', 'restored', { requestedIdentity: 16777300 });
    const [first] = [...allocator.identities()];
    if (first === undefined) throw new Error('nothing was allocated');
    expect(first.id).toBe(16777300);
    allocator.withhold([first.id]);
    fixture.metadata('10.0.0.1/32', 'cnp/a/b', 'generated', ['fqdn:x']);
    fixture.metadata('10.0.0.1/32', 'cnp/a/b', 'generated', ['fqdn:y']);
    expect([...allocator.identities()].map(({ id }) => id)).toEqual([16777218]);
    fixture.removeMetadata('10.0.0.1/32', 'cnp/a/b');
    expect([...allocator.identities()].map(({ id }) => id)).toEqual([16777300]);
  });
});

describe('lookups', () => {
  const address = (text: string): Uint8Array => parseAddress(text) ?? new Uint8Array();

  test('by address: the endpoint, else the longest prefix, within the cluster', () => {
    const { cache } = new Fixture();
    cache.upsert('10.0.0.0/8', value(8, 'kvstore'));
    cache.upsert('10.1.0.0/16@2', value(900, 'kvstore'));
    cache.upsert('10.1.1.1', value(901, 'kvstore'));
    cache.upsert('fd00::/8', value(10, 'kvstore'));
    const keyOf = (text: string, clusterId?: number) => lookupAddress(cache, address(text), clusterId)?.key;
    expect(['10.1.1.1', '10.1.1.2', '::ffff:10.1.1.1', 'fd00::1', '11.0.0.1'].map((text) => keyOf(text))).toEqual([
      '10.1.1.1',
      '10.0.0.0/8',
      '10.1.1.1',
      'fd00::/8',
      undefined,
    ]);
    expect(keyOf('10.1.1.1', 2)).toBe('10.1.0.0/16@2');
    expect(keyOf('10.2.1.1', 2)).toBeUndefined();
  });

  test('by key, identity, host and labels', () => {
    const fixture = new Fixture();
    const { cache } = fixture;
    cache.upsert('10.1.1.1', value(901, 'kvstore', { hostIP: '192.0.2.1' }));
    cache.upsert('10.1.1.1/32', value(902, 'kvstore', { hostIP: '192.0.2.1' }));
    cache.upsert('10.2.0.0/16', value(901, 'kvstore', { hostIP: '192.0.2.1' }));
    expect(lookupKey(cache, '10.1.1.1/32')).toMatchObject({ key: '10.1.1.1', entry: { identity: 901 } });
    expect(lookupKey(cache, '10.2.0.0/16')?.key).toBe('10.2.0.0/16');
    expect(lookupKey(cache, '10.3.0.0/16')).toBeUndefined();
    expect(keysOfIdentity(cache, 901).sort()).toEqual(['10.1.1.1', '10.2.0.0/16']);
    expect(prefixesOfHost(cache, '192.0.2.1').sort()).toEqual(['10.1.1.1/32', '10.2.0.0/16']);
    fixture.metadata('10.0.0.0/8', 'a//a', 'k8s', ['cidr:10.0.0.0/8', 'cidrgroup:g']);
    fixture.metadata('10.9.0.0/16', 'a//a', 'k8s', ['cidr:10.9.0.0/16']);
    expect(labelsModel(metadataLabelsOf(cache, address('10.9.1.1')))).toEqual(['cidr:10.9.0.0/16', 'cidrgroup:g']);
  });
});

/** Lets a test take the methods apart from their object. */
function bind(fixture: Fixture): { readonly cache: Ipcache; readonly said: () => string[] } {
  return { cache: fixture.cache, said: () => fixture.said() };
}

describe('sinceOf()', () => {
  const fixture = () => {
    const clock = { second: 0 };
    const allocator = new CachingAllocator();
    const cache = new Ipcache({ allocator, seconds: () => clock.second });
    const at = (second: number): Ipcache => {
      clock.second = second;
      return cache;
    };
    return { cache, at };
  };

  test('is the second at which what the map has of a key came about', () => {
    const { cache, at } = fixture();
    at(3).upsert('10.0.0.1', value(1, 'kvstore'));
    at(4).upsert('10.0.0.1', value(1, 'kvstore'));
    expect(cache.entries.sinceOf('10.0.0.1')).toBe(3);
    for (const [second, more] of [
      [5, { hostIP: '192.0.2.1' }],
      [6, { hostIP: '192.0.2.1', encryptKey: 3 }],
      [7, { hostIP: '192.0.2.1', encryptKey: 3, endpointFlags: 1 }],
    ] as const) {
      at(second).upsert('10.0.0.1', value(1, 'kvstore', more));
      expect(cache.entries.sinceOf('10.0.0.1')).toBe(second);
    }
    at(8).upsert('10.0.0.1', value(2, 'kvstore'));
    at(9).upsert('10.0.0.1', value(2, 'kvstore', { pod: { namespace: 'a', name: 'b' } }));
    expect(cache.entries.sinceOf('10.0.0.1')).toBe(8);
    expect(cache.entries.sinceOf('10.0.0.2')).toBeUndefined();
  });

  test('another owner of the same value changes nothing, the next weaker value does', () => {
    const { cache, at } = fixture();
    at(1).upsert('10.0.0.0/24', value(1, 'k8s'), { owner: 'a' });
    at(2).upsert('10.0.0.0/24', value(1, 'kvstore'), { owner: 'b' });
    expect(cache.entries.sinceOf('10.0.0.0/24')).toBe(1);
    at(3).upsert('10.0.0.0/24', value(2, 'k8s'), { owner: 'a' });
    expect(cache.entries.sinceOf('10.0.0.0/24')).toBe(1);
    at(4).delete('10.0.0.0/24', { source: 'kvstore', owner: 'b' });
    expect(cache.entries.sinceOf('10.0.0.0/24')).toBe(4);
  });

  test('a prefix that an endpoint hid is new when it comes back, unless it is the same', () => {
    const { cache, at } = fixture();
    at(1).upsert('10.0.0.1/32', value(1, 'k8s'));
    at(2).upsert('10.0.0.1', value(1, 'kvstore'));
    at(3).delete('10.0.0.1', { source: 'kvstore' });
    expect(cache.entries.sinceOf('10.0.0.1/32')).toBe(1);
    at(4).upsert('10.0.0.1', value(2, 'kvstore'));
    at(5).delete('10.0.0.1', { source: 'kvstore' });
    expect(cache.entries.sinceOf('10.0.0.1/32')).toBe(5);
  });

  test('is unknown without a clock', () => {
    const cache = new Ipcache({ allocator: new CachingAllocator() });
    cache.upsert('10.0.0.1', value(1, 'k8s'));
    expect(cache.entries.sinceOf('10.0.0.1')).toBeUndefined();
  });
});
