import { describe, expect, it } from 'vitest';
import { encodeKey } from '../../../src/lib/ipcache/key.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import type { SourceEntry } from '../../../src/lib/restore/kept-entries.ts';
import { readTarget } from '../../../src/lib/restore/target-reading.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';

const v2 = layoutNamed('v2');

function filled(entries: Readonly<Record<string, number>>) {
  const { map } = new FakeKernel().createMap({ maxEntries: 100 });
  for (const [prefix, identity] of Object.entries(entries)) {
    const value = Buffer.alloc(24);
    value.writeUInt32LE(identity);
    map.update(encodeKey(v2, parsePrefix(prefix)), value);
  }
  return map;
}

describe('readTarget()', () => {
  it('finds exactly what is there, also under a key with host bits', async () => {
    using map = filled({ '10.0.0.0/8': 7, '10.0.0.1/32': 16777217, 'fd00::/64': 16777218 });
    const stored = encodeKey(v2, parsePrefix('192.0.2.0/24'));
    stored[11] = 99;
    map.update(stored, Buffer.alloc(24, 1));
    const target = await readTarget(map, v2, []);
    const found = ['10.0.0.0/8', '10.0.0.1/32', 'fd00::/64', '192.0.2.0/24', '10.0.0.0/9', '10.0.0.2/32', 'fd00::/65'];
    expect(found.map((prefix) => target.identityOf(parsePrefix(prefix)))).toEqual([
      7,
      16777217,
      16777218,
      0x01010101,
      undefined,
      undefined,
      undefined,
    ]);
    expect([target.has(encodeKey(v2, parsePrefix('192.0.2.0/24'))), target.complete]).toEqual([true, true]);
  });

  it('counts how many entries have a number that the source does not have so', async () => {
    using map = filled({ '10.0.0.1/32': 16777217, '10.0.0.2/32': 16777217, '10.0.0.3/32': 16777218, '10.0.0.4/32': 9 });
    const source: SourceEntry[] = [
      { prefix: '10.0.0.1/32', identity: 16777217, class: 'local' },
      { prefix: '10.0.0.3/32', identity: 16777218, class: 'local' },
    ];
    const { numbers } = await readTarget(map, v2, source);
    expect([...numbers]).toEqual([
      [16777217, 1],
      [16777218, 0],
    ]);
  });
});
