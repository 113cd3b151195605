import { spawnSync } from 'node:child_process';

/**
 * The best wall time of each command line, in milliseconds: all of them in turn, so that a busy moment hits them alike.
 * NODE_EXTRA_CA_CERTS is unset: Node 20 reads all those certificates at every start.
 */
export function bestStartMs(commandLines: readonly (readonly string[])[], rounds: number): number[] {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const best = commandLines.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (const [i, args] of commandLines.entries()) {
      const started = process.hrtime.bigint();
      spawnSync(process.execPath, args, { env, stdio: 'ignore' });
      const ms = Number(process.hrtime.bigint() - started) / 1e6;
      best[i] = Math.min(best[i] ?? ms, ms);
    }
  }
  return best;
}
