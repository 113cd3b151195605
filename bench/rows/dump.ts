/** `ipc dump --json` against the C reader printing the same bytes, and bpftool where it is installed. */
import { execFileSync } from 'node:child_process';
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

const row: BenchRow = {
  name: 'dump',
  command: 'dump',
  run(bench) {
    const pin = bench.map();
    const args = ['dump', '--json', '--no-labels', '--map', pin];
    const wanted = execFileSync(bench.program('lpmread'), [pin], {
      encoding: 'utf8',
      maxBuffer: 1 << 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (bench.ipcOutput(...args) !== wanted) throw new Error('ipc dump does not print what the C reader prints');
    const costs = bench.measure([
      bench.reader(pin),
      bench.ipc(...args),
      bench.peer('bpftool', '-j', 'map', 'dump', 'pinned', pin),
    ]);
    const [reader, ours] = costs;
    if (reader === undefined || ours === undefined) throw new Error('nothing was measured');
    return {
      costs,
      claims: [
        { what: 'wall, × C reader', measured: ratio(ours, reader), limit: 1.1 },
        { what: 'CPU, × C reader', measured: ratio(ours, reader, 'cpu'), limit: 2 },
        { what: 'memory, MiB', measured: ours.memory, limit: 95 },
      ],
    };
  },
};

export default row;
