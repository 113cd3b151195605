/** `ipc restore` of a map: in place, and with everything to another pin, against the C reader. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

const row: BenchRow = {
  name: 'restore',
  command: 'restore',
  run(bench) {
    const pin = bench.map();
    const state = path.join(bench.scratch, 'state');
    const target = bench.freePin('restored');
    const anew =
      (...paths: string[]) =>
      (): void => {
        for (const used of paths) rmSync(used, { recursive: true, force: true });
      };
    const restore = (...args: string[]) => bench.ipc('restore', '--json', '--state-dir', state, '--map', pin, ...args);
    const [reader, inPlace, to] = bench.measure([
      bench.reader(pin),
      { ...restore(), prepare: anew(state) },
      { ...restore('--to', target, '--all'), prepare: anew(state, target) },
    ]);
    if (reader === undefined || inPlace === undefined || to === undefined) throw new Error('nothing was measured');
    return {
      costs: [reader, inPlace, to],
      claims: [
        { what: 'in place: wall, × C reader', measured: ratio(inPlace, reader), limit: 2 },
        { what: 'in place: memory, MiB', measured: inPlace.memory, limit: 250 },
        { what: '--to --all: wall, × C reader', measured: ratio(to, reader), limit: 3.5 },
        { what: '--to --all: memory, MiB', measured: to.memory, limit: 250 },
      ],
    };
  },
};

export default row;
