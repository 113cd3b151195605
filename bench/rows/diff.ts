/** `ipc diff` of two snapshots: with nothing, little and everything between them. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchRow } from '../row.ts';

const FINDINGS = 10;

const row: BenchRow = {
  name: 'diff',
  command: 'diff',
  run(bench) {
    const file = (name: string): string => path.join(bench.scratch, name);
    const before = file('before.ndjson');
    bench.ipcOutput('snapshot', '--map', bench.map(), '--no-labels', before);
    const lines = readFileSync(before, 'utf8').trimEnd().split('\n');
    const change = (name: string, to: (entry: string, i: number) => string | undefined): string => {
      writeFileSync(file(name), changed(lines, to));
      return file(name);
    };
    const little = change('little.ndjson', (entry, i) =>
      i % 500 === 3 ? undefined : i % 100 === 7 ? entry.replace('"encryptKey":0', '"encryptKey":3') : entry,
    );
    const rotated = change('rotated.ndjson', (entry) => entry.replace('"encryptKey":0', '"encryptKey":3'));
    const subject = (name: string, after: string, exit: number) => ({
      ...bench.ipc('diff', '--json', before, after),
      name: `ipc diff: ${name}`,
      expect: [exit],
    });
    const costs = bench.measure([
      subject('nothing', before, 0),
      subject('6000 entries', little, FINDINGS),
      subject('every entry', rotated, FINDINGS),
    ]);
    const [nothing, some] = costs;
    if (nothing === undefined || some === undefined) throw new Error('nothing was measured');
    return {
      costs,
      claims: [nothing, some].flatMap((cost) => [
        { what: `${cost.name}: wall, s`, measured: cost.wall / 1000, limit: 1 },
        { what: `${cost.name}: memory, MiB`, measured: cost.memory, limit: 100 },
      ]),
    };
  },
};

/** The snapshot with its entries changed and a right end line. */
function changed(lines: readonly string[], to: (entry: string, i: number) => string | undefined): string {
  const entries = lines.slice(1, -1).flatMap((line, i) => to(line, i) ?? []);
  const body = `${[lines[0], ...entries].join('\n')}\n`;
  const sha256 = createHash('sha256').update(body).digest('hex');
  return `${body}${JSON.stringify({ end: true, identities: 0, entries: entries.length, complete: true, sha256 })}\n`;
}

export default row;
