import { describe, expect, it } from 'vitest';
import { Ipcache } from '../../../src/lib/cache/ipcache.ts';
import { CachingAllocator } from '../../../src/lib/identity/caching-allocator.ts';
import type { NodeFamilies } from '../../../src/lib/listen/source-feed.ts';
import { SourceFeed } from '../../../src/lib/listen/source-feed.ts';
import { PlainUpsert } from '../../../src/lib/sources/plain-upsert.ts';

function newFeed(node: NodeFamilies) {
  const cache = new Ipcache({ allocator: new CachingAllocator() });
  const feed = new SourceFeed({
    name: 'test',
    cache,
    node,
    tell: () => {},
    now: () => 0,
    onChange: () => {},
    drained: () => undefined,
    claim: () => {},
  });
  const upsert = new PlainUpsert();
  upsert.identity = 1000;
  upsert.source = 'kvstore';
  /** The same upsert by both ways. */
  const say = (key: string, fast: boolean): void => {
    upsert.key.read(key);
    if (fast) feed.upsert(upsert);
    else feed.event(upsert.event());
  };
  return { cache, feed, say };
}

const KEYS = ['10.0.0.1', '10.0.0.0/8', 'fd00::1', 'fd00::/16', '10.0.0.1@2', 'fd00::1@2', '10.0.0.1@3'];
const NODES: readonly NodeFamilies[] = [
  { ipv4: true, ipv6: true, clusterId: 0 },
  { ipv4: true, ipv6: false, clusterId: 2 },
  { ipv4: false, ipv6: true, clusterId: 3 },
];

describe('SourceFeed', () => {
  it.each(NODES)('upsert() takes and rejects what event() does, for %o', (node) => {
    const [fast, slow] = [true, false].map((isFast) => {
      const { cache, feed, say } = newFeed(node);
      for (const key of KEYS) say(key, isFast);
      return { entries: [...cache.entries.entries()], events: feed.events, rejected: [...feed.rejected] };
    });
    expect(fast).toEqual(slow);
    expect(fast?.events).toBe(KEYS.length);
    expect(fast?.entries.length).toBe(node.clusterId === 0 ? 7 : 3);
  });

  it('upsert() is of the same owner as event(), so that a delete finds it', () => {
    const { cache, feed, say } = newFeed({ ipv4: true, ipv6: true, clusterId: 0 });
    say('10.0.0.1', true);
    feed.event({ op: 'delete', key: '10.0.0.1', source: 'kvstore' });
    expect([cache.entries.size, feed.rejections]).toEqual([0, 0]);
  });
});
