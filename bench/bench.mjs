/** `npm run bench`: bundles run.ts with every file of rows/ and runs it. `--help` says how. */
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const rows = readdirSync(path.join(here, 'rows'))
  .filter((name) => name.endsWith('.ts'))
  .sort();
const outfile = path.join(path.dirname(here), 'node_modules', '.cache', 'ipc-bench', 'bench.cjs');
mkdirSync(path.dirname(outfile), { recursive: true });
await build({
  stdin: {
    contents: `${rows.map((name, i) => `import row${i} from './rows/${name}';`).join('\n')}
import { runBench } from './run.ts';
export default (root) => runBench(root, [${rows.map((_, i) => `row${i}`).join(', ')}], process.argv.slice(2));`,
    resolveDir: here,
    loader: 'ts',
  },
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  external: ['koffi'],
  logLevel: 'warning',
});
// Loads that a row runs in a process of their own.
await build({
  entryPoints: readdirSync(path.join(here, 'programs')).map((name) => path.join(here, 'programs', name)),
  outdir: path.dirname(outfile),
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  external: ['koffi'],
  logLevel: 'warning',
});
process.exitCode = await createRequire(import.meta.url)(outfile).default(path.dirname(here));
