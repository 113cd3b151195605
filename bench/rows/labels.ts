/** What labels from an allocator checkpoint of 40 MB cost: looked up for one address, and joined to a whole dump. */
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

const IDENTITIES = 200_000;
const ROUNDS = 15;
/** The exit status of `get` where nothing covers the address. */
const NO_ENTRY = 12;

const row: BenchRow = {
  name: 'labels',
  command: 'get',
  run(bench) {
    const file = path.join(bench.scratch, 'local_allocator_state.json');
    writeFileSync(file, checkpoint());
    const mebibytes = statSync(file).size / 2 ** 20;
    const join = ['--allocator-state', file];
    const map = ['--map', bench.map()];
    const [bare, labelled] = bench.measure(
      [
        { ...bench.ipc('get', '10.1.2.3', '--json', '--no-labels', ...map), expect: [0, NO_ENTRY] },
        { ...bench.ipc('get', '10.1.2.3', '--json', ...join, ...map), expect: [0, NO_ENTRY] },
      ],
      ROUNDS,
    );
    const [plain, joined] = bench.measure([
      bench.ipc('dump', '--json', '--no-labels', ...map),
      bench.ipc('dump', '--json', ...join, ...map),
    ]);
    if (bare === undefined || labelled === undefined || plain === undefined || joined === undefined) {
      throw new Error('nothing was measured');
    }
    return {
      costs: [bare, labelled, plain, joined],
      claims: [
        { what: 'get: beyond --no-labels, ms', measured: labelled.wall - bare.wall, limit: 60 },
        { what: 'dump: wall, × --no-labels', measured: ratio(joined, plain), limit: 1.6 },
        { what: 'dump: memory, MiB', measured: joined.memory, limit: Math.round(95 + 3 * mebibytes) },
      ],
    };
  },
};

/** As an agent writes it: the numbers in no order. */
function checkpoint(): string {
  const records = Array.from({ length: IDENTITIES }, (_, i) => {
    // A step without a common divisor visits every number once.
    const id = 16777217 + ((i * 7919) % IDENTITIES);
    const cidr = `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}/32`;
    const labels = [label('world-ipv4', 'reserved'), label(cidr, 'cidr'), label(`host-${id}.example.com`, 'fqdn')];
    return `{"id":${id},"labels":{${labels.join(',')}}}`;
  });
  return `[${records.join(',')}]\n`;
}

function label(key: string, source: string): string {
  return `"${key}":{"key":"${key}","source":"${source}"}`;
}

export default row;
