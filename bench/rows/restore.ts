/**
 * `ipc restore` of a map of which one entry in ten is local: in place, without and with an allocator checkpoint that has
 * the labels of all of them, and with everything to another pin, against the C reader.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

const row: BenchRow = {
  name: 'restore',
  command: 'restore',
  run(bench) {
    const pin = bench.map('local');
    const state = path.join(bench.scratch, 'state');
    const target = bench.freePin('restored');
    const anew =
      (...paths: string[]) =>
      (): void => {
        for (const used of paths) rmSync(used, { recursive: true, force: true });
      };
    const restore = (...args: string[]) => bench.ipc('restore', '--json', '--state-dir', state, '--map', pin, ...args);
    const labels = path.join(bench.scratch, 'local_allocator_state.json');
    bench.ipcOutput(
      ...['restore', '--json', '--state-dir', path.join(bench.scratch, 'state-labels'), '--map', pin],
      ...['--hand-over', '--write-allocator-state', labels, '--include-guessed'],
    );
    const [reader, inPlace, labelled, to] = bench.measure([
      bench.reader(pin),
      { ...restore(), prepare: anew(state) },
      { ...restore('--allocator-state', labels), prepare: anew(state) },
      { ...restore('--to', target, '--all'), prepare: anew(state, target) },
    ]);
    if (!reader || !inPlace || !labelled || !to) throw new Error('nothing was measured');
    return {
      costs: [reader, inPlace, labelled, to],
      claims: [
        { what: 'in place: wall, × C reader', measured: ratio(inPlace, reader), limit: 2 },
        { what: 'in place: memory, MiB', measured: inPlace.memory, limit: 250 },
        { what: 'in place with labels: wall, × C reader', measured: ratio(labelled, reader), limit: 2 },
        { what: 'in place with labels: memory, MiB', measured: labelled.memory, limit: 250 },
        { what: '--to --all: wall, × C reader', measured: ratio(to, reader), limit: 3.5 },
        { what: '--to --all: memory, MiB', measured: to.memory, limit: 250 },
      ],
    };
  },
};

export default row;
