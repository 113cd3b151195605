/** The entries of a fake map in words: `10.0.0.0/8=2`, in the map's order. */
import { decodeEntry } from '../../src/lib/ipcache/entry.ts';
import { type LayoutName, layoutNamed } from '../../src/lib/ipcache/layout.ts';
import type { FakeMap } from './fake-map.ts';

export function entriesOf(fake: FakeMap, layout: LayoutName = 'v2'): string[] {
  return fake.list().map((line) => {
    const [key = '', value = ''] = line.split(' ');
    const bytes = { keys: Buffer.from(key, 'hex'), values: Buffer.from(value, 'hex') };
    const entry = decodeEntry(layoutNamed(layout), bytes);
    return `${entry.prefix}=${entry.identity}`;
  });
}
