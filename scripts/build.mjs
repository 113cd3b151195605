/**
 * Builds what bin/run.cjs starts: dist/index.cjs (one CommonJS bundle), oclif.manifest.json and the V8 code cache.
 * `--dev` makes the bundle and the manifest only, with a source map.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lazyRequires } from './lazy-requires.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
const dev = process.argv.includes('--dev');
const require = createRequire(import.meta.url);

/** Every file in src/commands is a command of the file's name; a getter loads it when it is the one that runs. */
function entrySource() {
  const names = readdirSync(path.join(root, 'src', 'commands'))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.slice(0, -'.ts'.length))
    .sort();
  const getters = names.map(
    (name) => `  get ${JSON.stringify(name)}() { return require('./src/commands/${name}.ts').default; },`,
  );
  return `import { start as run } from './src/lib/cli/main.ts';
export const COMMANDS = {
${getters.join('\n')}
};
export const start = (root, argv = process.argv.slice(2)) => run(root, COMMANDS, argv);
`;
}

/** The bundle begins with a digest of itself, which the code cache repeats: V8 compares no more than the length. */
async function bundle() {
  const result = await build({
    stdin: { contents: entrySource(), resolveDir: root, sourcefile: 'entry.js', loader: 'js' },
    outfile: path.join(dist, 'index.cjs'),
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    external: ['koffi', 'typescript', 'ts-node', 'tsx'],
    plugins: [lazyRequires],
    legalComments: 'none',
    minifyWhitespace: !dev,
    minifySyntax: !dev,
    sourcemap: dev ? 'inline' : false,
    logLevel: 'warning',
  });
  // bin/run.cjs reads the file without decoding it. esbuild escapes all but regular expressions, where the same escape works.
  const text = result.outputFiles[0].text.replace(
    /[^\0-\x7f]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  writeAtomically(path.join(dist, 'index.cjs'), `/*${digest}*/${text}`);
}

/** The same JSON as the oclif development CLI writes, without that CLI. */
async function manifest() {
  const { Plugin } = require('@oclif/core/config');
  const plugin = new Plugin({ root, type: 'core', ignoreManifest: true, errorOnManifestCreate: true });
  await plugin.load();
  writeAtomically(path.join(root, 'oclif.manifest.json'), `${JSON.stringify(plugin.manifest)}\n`);
}

/** Made after runs, so that functions which V8 compiles late are in it too. */
function codeCache() {
  const script = path.join(root, 'scripts', 'code-cache.cjs');
  const { status, stderr } = spawnSync(process.execPath, [script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Cannot make the code cache: status ${status}\n${stderr}`);
}

function writeAtomically(file, text) {
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}

mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist).filter((name) => name.endsWith('.cache')))
  rmSync(path.join(dist, name), { force: true });
await bundle();
await manifest();
if (!dev) codeCache();
