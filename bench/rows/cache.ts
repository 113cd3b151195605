/** The in-memory cache that `listen` is built on. Speeds are in CPU of its thread, so that a busy machine changes little. */
import { execFileSync } from 'node:child_process';
import type { Cost } from '../measure.ts';
import type { CacheLoad } from '../programs/cache-load.ts';
import type { BenchRow } from '../row.ts';
import type { Workbench } from '../workbench.ts';

const PREFIXES = 500_000;
const SUBTREE = 100_000;

const row: BenchRow = {
  name: 'cache',
  command: 'dump',
  run(bench) {
    const direct = load(bench, 'direct', PREFIXES);
    const mixed = load(bench, 'mixed', PREFIXES);
    const subtree = load(bench, 'subtree', SUBTREE);
    return {
      costs: [
        cost(`${PREFIXES} addresses, each twice`, direct),
        cost(`${PREFIXES}, a tenth of them by metadata`, mixed),
        cost(`labels on a /8 with ${SUBTREE} inside`, subtree),
      ],
      claims: [
        { what: 'inserts a second', measured: direct.insertsPerSecond, limit: 300_000, atLeast: true },
        { what: 'updates a second', measured: direct.updatesPerSecond, limit: 300_000, atLeast: true },
        { what: 'MiB with direct values', measured: direct.memory, limit: 250 },
        { what: 'MiB with metadata', measured: mixed.memory, limit: 250 },
        { what: 'ms the event loop was held', measured: subtree.longestTurnCpu, limit: 50 },
      ],
    };
  },
};

export default row;

function load(bench: Workbench, mode: string, prefixes: number): CacheLoad {
  const argv = [bench.nodeProgram('cache-load'), mode, String(prefixes)];
  return JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8' }));
}

function cost(name: string, { wall, cpu, memory }: CacheLoad): Cost {
  return { name, wall, medianWall: wall, cpu, memory };
}
