import { describe, expect, it } from 'vitest';
import { ENOTSUPP } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_GET_NEXT_KEY, BPF_MAP_LOOKUP_BATCH } from '../../../src/lib/bpf/uapi.ts';
import { drain } from '../../support/drain.ts';
import { type FakeCall, FakeKernel } from '../../support/fake-kernel.ts';
import type { FakeMap } from '../../support/fake-map.ts';
import { hex, ipKey, value } from '../../support/lpm-keys.ts';

const KINDS = ['since-6.13', 'before-6.13'] as const;

/** 10.0.0.0/32 and up, below 10.0.0.0/8. */
function address(i: number): Uint8Array {
  return ipKey(`10.0.${i >> 8}.${i & 255}/32`);
}

function fill(fake: FakeMap, entries: number, numberOf: (i: number) => number): void {
  fake.store.update(ipKey('10.0.0.0/8'), value(0xffff));
  for (let i = 0; i < entries; i++) fake.store.update(address(i), value(numberOf(i)));
}

function inBatch(call: FakeCall, phase: FakeCall['phase']): boolean {
  return call.cmd === BPF_MAP_LOOKUP_BATCH && call.phase === phase;
}

describe.each(KINDS)('walkMap() against a process that aims, kernel %s', (kind) => {
  function setUp(entries: number, numberOf = (i: number) => i) {
    const kernel = new FakeKernel(kind);
    const { map, fake } = kernel.createMap({ maxEntries: 5000 });
    fill(fake, entries, numberOf);
    return { kernel, map, fake };
  }

  it.each(['listed', 'read'] as const)(
    'op 17 the current key is deleted again and again, right after it is %s: every survivor once',
    async (phase) => {
      const { kernel, map, fake } = setUp(600);
      let deleted = 0;
      kernel.onCall = (call) => {
        // Every third key goes the moment the listing stands on it.
        if (!inBatch(call, phase) || call.key === undefined || (call.key[11] ?? 0) % 3 !== 0 || call.key[0] !== 64)
          return;
        if (fake.store.delete(call.key) === 0) deleted++;
      };
      const { keys, lines, result } = await drain(map, { batchEntries: 32 });
      kernel.onCall = undefined;
      expect(deleted).toBeGreaterThan(150);
      expect(result.complete).toBe(true);
      expect(result.restarts).toBeGreaterThan(0);
      expect(new Set(lines).size).toBe(keys.length);
      expect(fake.list().filter((line) => !lines.includes(line))).toEqual([]);
      // What was emitted of the deleted ones had its own value, not that of 10.0.0.0/8.
      expect(lines.filter((line) => line.startsWith('40') && line.includes(` ${hex(value(0xffff))}`))).toEqual([]);
    },
  );

  it('op 17 the current key is deleted and comes back, for ever: ends and says that it is not complete', async () => {
    const { kernel, map, fake } = setUp(600);
    let removed: Uint8Array | undefined;
    kernel.onCall = (call) => {
      if (!inBatch(call, 'read') || call.key === undefined || call.key[0] !== 64) return;
      if (removed !== undefined) fake.store.update(removed, value(1));
      removed = call.key;
      fake.store.delete(removed);
    };
    const { keys, lines, result } = await drain(map, { batchEntries: 32 });
    expect(result.complete).toBe(false);
    expect(result.reason).toBe('the map changed faster than it could be read');
    expect(new Set(lines.map((line) => line.slice(0, 48))).size).toBe(keys.length);
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH)).toBeLessThan(5000);
  });

  it.each([
    ['different values', (i: number) => i],
    ['the value of the wider prefix', () => 0xffff],
  ])('goes back when the cursor vanishes between two calls, entries with %s', async (_name, numberOf) => {
    const { kernel, map, fake } = setUp(900, numberOf);
    const vanished: string[] = [];
    let listed: Uint8Array[] = [];
    kernel.onCall = (call) => {
      if (inBatch(call, 'read') && call.key !== undefined) listed.push(call.key);
      if (!inBatch(call, 'before') || call.nth % 4 !== 0) return;
      // Not only the cursor, so that the key before it is no way on either.
      for (const key of listed.slice(-5)) if (fake.store.delete(key) === 0) vanished.push(hex(key));
      listed = [];
    };
    const { lines, result } = await drain(map, { batchEntries: 32 });
    kernel.onCall = undefined;
    expect(vanished.length).toBeGreaterThan(20);
    // A walk that starts over each time needs hundreds.
    expect(kernel.calls.get(BPF_MAP_LOOKUP_BATCH)).toBeLessThan(kind === 'since-6.13' ? 60 : 120);
    expect(result.complete).toBe(true);
    expect(fake.list().filter((line) => !lines.includes(line))).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('goes back to the start when everything that it listed vanishes', async () => {
    const { kernel, map, fake } = setUp(900);
    let wiped = false;
    kernel.onCall = (call) => {
      if (wiped || !inBatch(call, 'before') || call.nth < 9) return;
      wiped = true;
      for (let i = 0; i < 600; i++) fake.store.delete(address(i));
    };
    const { lines, result } = await drain(map, { batchEntries: 32 });
    expect(wiped).toBe(true);
    expect(result.complete).toBe(true);
    expect(fake.list().filter((line) => !lines.includes(line))).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('survives a map that is emptied under it', async () => {
    const { kernel, map, fake } = setUp(900);
    kernel.onCall = (call) => {
      if (inBatch(call, 'before') && call.nth === 8) {
        for (const line of fake.list()) fake.store.delete(Buffer.from(line.slice(0, 48), 'hex'));
      }
    };
    const { lines, result } = await drain(map, { batchEntries: 32 });
    expect(fake.store.size).toBe(0);
    expect(result.complete).toBe(true);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('ends although a key is always added in front of it', async () => {
    const { kernel, map, fake } = setUp(300);
    let added = 0;
    kernel.onCall = (call) => {
      if (!inBatch(call, 'read')) return;
      fake.store.update(
        ipKey(`fd00::${(added >> 16).toString(16)}:${(added & 0xffff).toString(16)}/128`),
        value(added),
      );
      if (added++ > 1000) {
        const old = added - 900;
        fake.store.delete(ipKey(`fd00::${(old >> 16).toString(16)}:${(old & 0xffff).toString(16)}/128`));
      }
    };
    const { lines, result } = await drain(map, { batchEntries: 64 });
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.length).toBeGreaterThan(300);
    expect(lines.length).toBeLessThan(60_000);
    if (!result.complete) expect(result.reason).toBe('the map changed faster than it could be read');
  });

  it('emits a prefix once although its spelling changes under the walk', async () => {
    const { kernel, map, fake } = setUp(300);
    let turn = 0;
    kernel.onCall = (call) => {
      if (!inBatch(call, 'read')) return;
      fake.store.update(ipKey(`10.${++turn % 200}.1.1/8`), value(0xffff));
    };
    const { keys, result } = await drain(map, { batchEntries: 32 });
    expect(result.complete).toBe(true);
    expect(keys.filter((key) => key[0] === 40).length).toBe(1);
    expect(keys.length).toBe(301);
  });

  it('trusts no value of a key that vanishes while entries are read singly', async () => {
    const { kernel, map, fake } = setUp(300);
    kernel.missing.set(BPF_MAP_LOOKUP_BATCH, ENOTSUPP);
    let steps = 0;
    kernel.onCall = ({ cmd, phase }) => {
      if (cmd !== BPF_MAP_GET_NEXT_KEY || phase !== 'after' || ++steps > 300 || steps % 5 !== 0) return;
      // What next-key just answered: its lookup will find 10.0.0.0/8.
      fake.store.delete(address(steps - 1));
    };
    const { lines, result } = await drain(map, { batchEntries: 32 });
    kernel.onCall = undefined;
    expect(result.complete).toBe(true);
    expect(fake.list().filter((line) => !lines.includes(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('40') && line.includes(` ${hex(value(0xffff))}`))).toEqual([]);
  });
});
