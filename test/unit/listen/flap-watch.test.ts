import { describe, expect, it } from 'vitest';
import type { CacheEntry } from '../../../src/lib/cache/listener.ts';
import { FlapWatch } from '../../../src/lib/listen/flap-watch.ts';
import { HandClock } from '../../support/hand-clock.ts';

const entry = (identity: number): CacheEntry => ({
  identity,
  source: 'api',
  hostIP: undefined,
  encryptKey: 0,
  endpointFlags: 0,
  pod: undefined,
});

function newWatch() {
  const clock = new HandClock();
  const told: string[] = [];
  const watch = new FlapWatch(clock.monotonic, (prefix, identities) => told.push(`${prefix} ${identities.join(' ')}`));
  const change = (prefix: string, from: number | undefined, to: number): void =>
    watch.onIpcacheEvent({
      kind: 'upsert',
      prefix,
      entry: entry(to),
      old: from === undefined ? undefined : entry(from),
    });
  return { clock, told, watch, change };
}

describe('FlapWatch', () => {
  it('op 49: tells once of three changes within a minute, with the identities in their order', () => {
    const { clock, told, change } = newWatch();
    change('10.0.0.1/32', undefined, 1);
    for (const identity of [1, 2, 3, 4, 5, 6]) {
      change('10.0.0.1/32', identity, identity + 1);
      clock.pass(10_000);
    }
    for (const identity of [7, 8, 9]) change('0.0.0.0/0', identity, identity + 1);
    expect(told).toEqual(['10.0.0.1/32 1 2 3 4', '0.0.0.0/0 7 8 9 10']);
  });

  it('is silent about changes that are further apart, new prefixes, deletes and equal identities', () => {
    const { clock, told, watch, change } = newWatch();
    for (let i = 1; i < 20; i++) {
      change('10.0.0.1/32', i, i + 1);
      clock.pass(30_001);
    }
    for (let i = 0; i < 10; i++) {
      change('10.0.0.2/32', undefined, i);
      watch.onIpcacheEvent({ kind: 'delete', prefix: '10.0.0.2/32', entry: entry(i) });
      change('10.0.0.3/32', 7, 7);
    }
    expect(told).toEqual([]);
  });

  it('counts from the latest three changes, and tells again after a quiet minute', () => {
    const { clock, told, change } = newWatch();
    change('10.0.0.1/32', 1, 2);
    clock.pass(50_000);
    change('10.0.0.1/32', 2, 3);
    clock.pass(11_000);
    change('10.0.0.1/32', 3, 4);
    expect(told).toEqual([]);
    clock.pass(10_000);
    change('10.0.0.1/32', 4, 5);
    expect(told).toEqual(['10.0.0.1/32 2 3 4 5']);
    clock.pass(60_001);
    for (const identity of [5, 6, 7]) change('10.0.0.1/32', identity, identity + 1);
    expect(told[1]).toBe('10.0.0.1/32 5 6 7 8');
  });

  it('keeps prefixes apart: a crowd that changes once each is no flapping, and one that flaps after it is seen', () => {
    const { told, change } = newWatch();
    for (const identity of [1, 2]) {
      change('10.0.0.1/32', identity, identity + 1);
      change('fd00::1/128', identity, identity + 1);
    }
    expect(told).toEqual([]);
    for (let i = 0; i < 300_000; i++) change(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32@7`, 1, 2);
    expect(told).toEqual([]);
    for (const identity of [1, 2, 3]) change('fd00::1/128', identity, identity + 1);
    expect(told).toEqual(['fd00::1/128 1 2 3 4']);
  });
});
