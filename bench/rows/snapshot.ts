/** `ipc snapshot FILE`, synced to the disk, against the C reader that prints the same entries unsorted. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

const row: BenchRow = {
  name: 'snapshot',
  command: 'snapshot',
  run(bench) {
    const pin = bench.map();
    const state = path.join(bench.scratch, 'allocator.json');
    writeFileSync(state, checkpoint(Math.floor(bench.entries / 20)));
    const file = (name: string): string => path.join(bench.scratch, name);
    const snapshot = (name: string, ...args: string[]) => ({
      ...bench.ipc('snapshot', '--map', pin, '--allocator-state', state, ...args, file(name)),
      name: `ipc snapshot ${args.join(' ')} ${name}`,
    });
    const costs = bench.measure([
      bench.reader(pin),
      snapshot('plain.ndjson'),
      snapshot('bare.ndjson', '--no-labels'),
      snapshot('packed.ndjson.gz'),
      snapshot('redacted.ndjson', '--redact', '--state-dir', bench.scratch),
    ]);
    const [reader, plain, bare] = costs;
    if (reader === undefined || plain === undefined || bare === undefined) throw new Error('nothing was measured');
    return {
      costs,
      claims: [
        { what: 'with labels, wall, × C reader', measured: ratio(plain, reader), limit: 2.5 },
        { what: 'without labels, wall, × C reader', measured: ratio(bare, reader), limit: 2.5 },
      ],
    };
  },
};

/** Labels for the local identities of the map that lpmfill makes. */
function checkpoint(count: number): string {
  const records = Array.from({ length: count }, (_, i) => {
    const cidr = `${100 + (i % 100)}.${Math.floor(i / 100) >> 8}.${Math.floor(i / 100) & 255}.0/24`;
    const label = (key: string, source: string) => ({ [key]: { key, source } });
    return { id: 0x1000001 + i, labels: { ...label(cidr, 'cidr'), ...label('world-ipv4', 'reserved') } };
  });
  return `${JSON.stringify(records)}\n`;
}

export default row;
