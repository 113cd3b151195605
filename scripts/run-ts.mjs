/** Runs a TypeScript file of this project: `node scripts/run-ts.mjs FILE [ARGUMENT…]`. Node 20 cannot do that by itself. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: node scripts/run-ts.mjs FILE [ARGUMENT…]\n');
  process.exit(2);
}
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// Below node_modules, so that the bundle finds the packages that stay outside of it.
const cache = path.join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(path.join(cache, 'run-ts-'));
try {
  const outfile = path.join(folder, 'script.cjs');
  buildSync({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    external: ['koffi', '@koromix/*', 'esbuild', 'vitest'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', outfile, ...args], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
