/** Makes a TypeScript file of the tests runnable by a plain `node`, for tests that need a process of their own. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';

/** Lies below the project, so that `require('koffi')` finds its modules. */
const ROOT = resolve('node_modules/.cache');

export interface BundledScript extends Disposable {
  readonly path: string;
}

/** @param script a file of test/support/scripts, without its extension */
export function bundleScript(script: string): BundledScript {
  const directory = mkdtempSync(join(ensured(ROOT), 'ipc-test-'));
  const path = join(directory, `${script}.cjs`);
  buildSync({
    entryPoints: [resolve(`test/support/scripts/${script}.ts`)],
    outfile: path,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    external: ['koffi', '@koromix/*'],
    logLevel: 'warning',
  });
  return { path, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

function ensured(directory: string): string {
  mkdirSync(directory, { recursive: true });
  return directory;
}
