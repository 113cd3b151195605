/** One address out of a large map: what it takes beyond the start of a command. */
import type { BenchRow } from '../row.ts';

const ROUNDS = 15;

const row: BenchRow = {
  name: 'get',
  command: 'get',
  run(bench) {
    const costs = bench.measure(
      [
        {
          ...bench.ipc('dump', '--json', '--no-labels', '--map', bench.map('mix', 10)),
          name: 'start: dump of 10 entries',
        },
        bench.ipc('get', '10.1.2.3', '--json', '--map', bench.map()),
        bench.ipc('get', 'fd00::1', '--json', '--map', bench.map()),
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
        limit: 3,
      })),
    };
  },
};

/** The exit status of `get` where nothing covers the address. */
const NO_ENTRY = 12;

export default row;
