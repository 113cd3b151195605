/** The benchmark: measures the rows of the contract on this machine and says which of them hold. */
import { parseArgs } from 'node:util';
import { printRow } from './report.ts';
import type { BenchRow } from './row.ts';
import { Workbench } from './workbench.ts';

const USAGE = `usage: npm run bench -- [--only ROW,ROW] [--entries N] [--rounds N] [--factor F]
  --only     rows to run
  --entries  entries of the large maps (500000)
  --rounds   runs of each command, in turn; the best counts (5)
  --factor   how far beyond the contract is still accepted (1)
Needs root, a bpf filesystem on /sys/fs/bpf, a C compiler and a build (npm run build). Exit 1 when a row is over.
`;

/** @param root the project's directory. @returns the exit status. */
export async function runBench(root: string, rows: readonly BenchRow[], argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: 'string' },
      entries: { type: 'string', default: '500000' },
      rounds: { type: 'string', default: '5' },
      factor: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  const names = values.only?.split(',') ?? rows.map(({ name }) => name);
  const unknown = names.filter((name) => !rows.some((row) => row.name === name));
  if (values.help || unknown.length > 0) {
    const known = `rows: ${rows.map(({ name }) => name).join(', ')}\n`;
    process.stderr.write(unknown.length > 0 ? `no such row: ${unknown.join(', ')}\n${known}` : `${USAGE}${known}`);
    return unknown.length > 0 ? 2 : 0;
  }
  // The command that is being measured gets the signal too and fails, so that the pins are taken away.
  process.once('SIGINT', () => undefined);
  using bench = new Workbench({ root, entries: Number(values.entries), rounds: Number(values.rounds) });
  let good = true;
  for (const row of rows.filter(({ name }) => names.includes(name))) {
    if (bench.has(row.command)) good = printRow(row.name, await row.run(bench), Number(values.factor)) && good;
    else process.stdout.write(`\n${row.name}: left out, the build has no ipc ${row.command}\n`);
  }
  return good ? 0 : 1;
}
