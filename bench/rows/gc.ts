/** `ipc gc` that deletes a fifth of the map, with the backup on disk, against a snapshot; without the waiting. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ratio } from '../measure.ts';
import type { BenchRow } from '../row.ts';

const row: BenchRow = {
  name: 'gc',
  command: 'gc',
  run(bench) {
    const all = path.join(bench.scratch, 'all.ndjson');
    const wanted = path.join(bench.scratch, 'wanted.ndjson');
    bench.ipcOutput('snapshot', '--map', bench.map(), '--no-labels', all);
    const deleted = withoutEveryFifth(all, wanted);
    const pin = bench.freePin('gc');
    const collect = bench.ipc(
      'gc',
      '--json',
      ...['--map', pin, '--against', `snapshot:${wanted}`, '--state-dir', path.join(bench.scratch, 'state')],
      ...['--confirm', '0s', '--max-delete', '100%', '--sole-writer'],
    );
    const prepare = (): void => {
      rmSync(pin, { force: true });
      execFileSync(bench.program('lpmfill'), [pin, String(bench.entries)]);
    };
    const costs = bench.measure([bench.reader(bench.map()), { ...collect, name: `ipc gc of ${deleted}`, prepare }]);
    const left = execFileSync(bench.program('lpmread'), [pin], {
      maxBuffer: 1 << 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const count = left.toString('latin1').split('\n').length - 3;
    if (count !== bench.entries - deleted) throw new Error(`ipc gc left ${count} entries`);
    const [reader, ours] = costs;
    if (reader === undefined || ours === undefined) throw new Error('nothing was measured');
    return { costs, claims: [{ what: 'wall, × C reader', measured: ratio(ours, reader), limit: 3.5 }] };
  },
};

/** Writes the snapshot without every fifth entry. @returns how many are missing */
function withoutEveryFifth(from: string, to: string): number {
  const lines = readFileSync(from, 'utf8').trimEnd().split('\n');
  const entries = lines.slice(1, -1);
  const kept = entries.filter((_, i) => i % 5 !== 0);
  const body = `${[lines[0], ...kept].join('\n')}\n`;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const end = { end: true, identities: 0, entries: kept.length, complete: true, sha256 };
  writeFileSync(to, `${body}${JSON.stringify(end)}\n`);
  return entries.length - kept.length;
}

export default row;
