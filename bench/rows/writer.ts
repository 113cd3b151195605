/** Events of the cache into the kernel: what is left of the speed of `listen` once sources and cache are done. */
import { execFileSync } from 'node:child_process';
import type { WriterLoad } from '../programs/writer-load.ts';
import type { BenchRow } from '../row.ts';

const row: BenchRow = {
  name: 'writer',
  command: 'dump',
  run(bench) {
    const argv = [bench.nodeProgram('writer-load'), String(bench.entries)];
    const load: WriterLoad = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8' }));
    const { wall, cpu, memory } = load;
    return {
      costs: [{ name: `${bench.entries} inserts, updates and deletes`, wall, medianWall: wall, cpu, memory }],
      claims: [
        { what: 'inserts a second', measured: load.insertsPerSecond, limit: 200_000, atLeast: true },
        { what: 'updates a second', measured: load.updatesPerSecond, limit: 200_000, atLeast: true },
        { what: 'deletes a second', measured: load.deletesPerSecond, limit: 100_000, atLeast: true },
        { what: 'MiB', measured: memory, limit: 150 },
      ],
    };
  },
};

export default row;
