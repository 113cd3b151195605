/** One address out of a large map: what it takes beyond the start of a command. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchRow } from '../row.ts';
import type { Workbench } from '../workbench.ts';

const ROUNDS = 15;

const row: BenchRow = {
  name: 'get',
  command: 'get',
  run(bench) {
    const local = ['get', localPrefix(bench), '--json', '--map', bench.map(), '--allocator-state', checkpoint(bench)];
    if (!bench.ipcOutput(...local).includes('"labelsFrom":"allocator"')) throw new Error('ipc get finds no labels');
    const costs = bench.measure(
      [
        {
          ...bench.ipc('dump', '--json', '--no-labels', '--map', bench.map('mix', 10)),
          name: 'start: dump of 10 entries',
        },
        bench.ipc('get', '10.1.2.3', '--json', '--map', bench.map()),
        bench.ipc('get', 'fd00::1', '--json', '--map', bench.map()),
        { ...bench.ipc(...local), name: WITH_LABELS },
      ].map((subject) => ({ ...subject, expect: [0, NO_ENTRY] })),
      ROUNDS,
    );
    const [start, ...ours] = costs;
    if (start === undefined) throw new Error('nothing was measured');
    return {
      costs,
      claims: ours.map((cost) => ({
        what: `${cost.name}: beyond start, ms`,
        measured: cost.wall - start.wall,
        limit: cost.name === WITH_LABELS ? 60 : 3,
      })),
    };
  },
};

const WITH_LABELS = 'get, labels from a checkpoint of 40 MB';

const FIRST_LOCAL = 0x1000000;
const CHECKPOINT_BYTES = 40_000_000;

/** A prefix whose identity has its labels in the checkpoint. */
function localPrefix(bench: Workbench): string {
  const rows = bench.ipcOutput(
    'dump',
    '--json',
    '--no-labels',
    '--scope',
    'local',
    '--limit',
    '1',
    '--map',
    bench.map(),
  );
  const [entry] = JSON.parse(rows) as { prefix: string }[];
  if (entry === undefined) throw new Error('the map has no local identity');
  return entry.prefix;
}

/** As the agent writes it, with every local number that could be asked for. */
function checkpoint(bench: Workbench): string {
  const records: string[] = [];
  for (let bytes = 0, i = 1; bytes < CHECKPOINT_BYTES; i++) {
    const cidr = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}/32`;
    const label = (key: string, source: string) => `"${key}":{"key":"${key}","source":"${source}"}`;
    const record = `{"id":${FIRST_LOCAL + i},"labels":{${label(cidr, 'cidr')},${label('world-ipv4', 'reserved')}}}`;
    records.push(record);
    bytes += record.length + 1;
  }
  const file = path.join(bench.scratch, 'local_allocator_state.json');
  writeFileSync(file, `[${records.join(',')}]\n`);
  return file;
}

/** The exit status of `get` where nothing covers the address. */
const NO_ENTRY = 12;

export default row;
