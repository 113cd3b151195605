/** The other forms of `ipc dump`, and a filtered one, against `--json`. */
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

const row: BenchRow = {
  name: 'formats',
  command: 'dump',
  run(bench) {
    const pin = bench.map();
    const dump = (...args: string[]) => bench.ipc('dump', '--no-labels', ...args, '--map', pin);
    const costs = bench.measure([
      dump('--json'),
      dump('--output', 'table'),
      dump('--output', 'ndjson'),
      dump('--json', '--scope', 'local'),
    ]);
    const [json, ...others] = costs;
    if (json === undefined) throw new Error('nothing was measured');
    return {
      costs,
      claims: others.flatMap((cost) => [
        { what: `${cost.name}: wall, × --json`, measured: ratio(cost, json), limit: 1.6 },
        { what: `${cost.name}: memory, MiB`, measured: cost.memory, limit: 95 },
      ]),
    };
  },
};

export default row;
