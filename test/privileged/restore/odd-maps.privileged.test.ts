/** Whatever bytes a map has: restore ends, twice the same, and what it remembers can be read, shown and released. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import Release from '../../../src/commands/release.ts';
import Restore from '../../../src/commands/restore.ts';
import Snapshot from '../../../src/commands/snapshot.ts';
import Status from '../../../src/commands/status.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { Site } from '../../support/restore-site.ts';

const AT = Date.UTC(2026, 0, 2, 3);
const LATER = { now: AT + 60_000 };

let site: Site;
beforeEach(() => {
  site = new Site('odd');
});
afterEach(() => site[Symbol.dispose]());

const byte = fc.oneof(fc.constantFrom(0, 1, 2, 3, 255), fc.integer({ min: 0, max: 255 }));
const identity = fc.oneof(
  fc.constantFrom(
    0,
    1,
    8,
    0x00ffffff,
    0x01000000,
    0x01000001,
    0x01ffffff,
    0x02000000,
    0x02ffffff,
    0x03000000,
    0xffffffff,
  ),
  fc.integer({ min: 0x01000000, max: 0x0100000f }),
  fc.integer({ min: 0, max: 0xffffffff }),
);
const entry = fc.record({
  // In bits, of which the first 32 are cluster, pad and family.
  prefixlen: fc.oneof(fc.constantFrom(0, 16, 31, 32, 64, 160), fc.integer({ min: 0, max: 160 })),
  cluster: fc.constantFrom(0, 0, 0, 3, 65535),
  pad: fc.constantFrom(0, 0, 0, 7),
  family: fc.constantFrom(1, 1, 2, 2, 0, 9),
  address: fc.oneof(
    fc.array(byte, { minLength: 16, maxLength: 16 }),
    fc.array(byte, { minLength: 4, maxLength: 4 }).map((last) => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...last]),
    fc.array(byte, { minLength: 4, maxLength: 4 }).map((first) => [...first, ...Array(12).fill(0)]),
  ),
  identity,
  tunnel: fc.oneof(fc.constant([]), fc.array(byte, { minLength: 16, maxLength: 16 })),
  encryptKey: fc.constantFrom(0, 0, 3, 255),
  flags: fc.oneof(fc.constant(0), byte),
});
type OddEntry = typeof entry extends fc.Arbitrary<infer T> ? T : never;

/** Bits beyond the length of a whole IPv4 address: a snapshot says that there are some, and they must not become its last. */
const BEHIND_A_WHOLE_ADDRESS: OddEntry = {
  prefixlen: 64,
  cluster: 0,
  pad: 0,
  family: 1,
  address: [192, 0, 2, 4, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0],
  identity: 0x01000001,
  tunnel: [],
  encryptKey: 0,
  flags: 0,
};

function put(entries: readonly OddEntry[]): void {
  site.map([]);
  using map = openPin(site.pin, { kernel: site.kernel, write: true });
  for (const odd of entries) {
    const key = new Uint8Array(24);
    const value = new Uint8Array(24);
    const view = new DataView(key.buffer);
    view.setUint32(0, odd.prefixlen, true);
    view.setUint16(4, odd.cluster, true);
    key.set([odd.pad, odd.family, ...odd.address], 6);
    new DataView(value.buffer).setUint32(0, odd.identity, true);
    value.set([...odd.tunnel.slice(0, 16)], 4);
    value[20] = odd.encryptKey;
    value[21] = odd.flags;
    map.update(key, value);
  }
}

it('any map is restored, shown, carried and released', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 12 }), async (entries) => {
      put(entries);
      const before = await site.numbers();
      const argv = ['--map', site.pin, '--allocator-state', site.allocator('null')];
      const first = await site.report(Restore, argv, 0, { now: AT });
      const placeholders = site.state.placeholders;
      expect((await site.report(Restore, argv, 0, { now: AT })).summary).toEqual(first.summary);
      expect(site.state.placeholders).toEqual(placeholders);
      expect((await site.report(Status, ['--socket', ''], 0, { now: AT })).placeholders).toBe(placeholders.length);
      await site.report(Restore, [...argv, '--as-agent'], 0, { now: AT });
      await site.report(Release, ['--dry-run'], 0, LATER);
      await site.report(Release, [], 0, LATER);
      expect(await site.numbers()).toEqual(before);
      const file = site.file('odd.ndjson');
      const taken = await site.run(Snapshot, [file, '--map', site.pin, '--no-labels', '--force'], { now: AT });
      expect(taken.exitCode, taken.stderr).toBe(0);
      await site.report(Restore, ['--from', file, '--map', site.pin], 0, { now: AT });
      await site.report(Restore, [...argv, '--recreate'], 0, { now: AT });
      expect(await site.numbers()).toEqual(before);
    }),
    { numRuns: 40, examples: [[[BEHIND_A_WHOLE_ADDRESS]]] },
  );
});
