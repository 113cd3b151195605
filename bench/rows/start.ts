/** What every command pays before it does anything, against a bare Node. */
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

/** Starts are short and vary much. */
const ROUNDS = 15;

const row: BenchRow = {
  name: 'start',
  command: 'dump',
  run(bench) {
    const pin = bench.map('mix', 10);
    const costs = bench.measure(
      [
        { name: 'node -e 0', argv: [process.execPath, '-e', '0'] },
        bench.ipc('dump', '--json', '--no-labels', '--map', pin),
        bench.ipc('--help'),
      ],
      ROUNDS,
    );
    const [node, ...ours] = costs;
    if (node === undefined) throw new Error('nothing was measured');
    return {
      costs,
      claims: ours.map((cost) => ({
        what: `${cost.name}: wall, × node -e 0`,
        measured: ratio(cost, node),
        limit: 2.6,
      })),
    };
  },
};

export default row;
