/**
 * Enforces how modules may depend on each other: layers of src/lib from bottom to top, one directory of importers for each package,
 * and no process, clock or stream below the command line. Prints every violation with file and line. Argument: another root.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.argv[2] ?? path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const src = path.join(root, 'src');

/** A module may import from its own layer and from layers before it. */
const LAYERS = [
  ['errors', 'net', 'native', 'fs', 'schema', 'check'],
  ['bpf', 'identity'],
  ['ipcache', 'cache', 'policymap'],
  ['datapath', 'change', 'restore', 'gc', 'sources', 'snapshot', 'diff', 'state', 'owner', 'inventory', 'doctor'],
  ['listen'],
  ['output'],
  ['cli'],
  ['commands'],
];

/** Areas that never import each other although their layers would allow it, in both directions. */
const STRANGERS = [
  ['cache', 'bpf'],
  ['cache', 'ipcache'],
];

/** The only area that may import a package; what is not listed may not be imported at all. */
const PACKAGES = {
  '@oclif/core': ['cli', 'commands'],
  '@koromix': ['native'],
  koffi: ['native'],
  chalk: ['output'],
  'cli-table3': ['output'],
  yaml: ['cli', 'sources'],
  'fastest-levenshtein': ['cli'],
  'find-my-way': ['listen'],
  'prom-client': ['listen'],
};

/** Words that only the two topmost areas may use, as everything below gets them as arguments. */
const PROCESS_WORDS =
  /\bprocess\.(?!platform\b|arch\b|version\b|versions\b|execPath\b|getuid\b|geteuid\b|hrtime\b|pid\b|ppid\b)\w+|\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bconsole\.\w+/g;
const TOP = new Set(['cli', 'commands']);

const violations = [];
for (const file of sourceFiles(src)) check(file);
for (const line of violations) process.stdout.write(`${line}\n`);
process.stdout.write(violations.length === 0 ? 'imports: ok\n' : `imports: ${violations.length} violations\n`);
process.exit(violations.length === 0 ? 0 : 1);

function check(file) {
  const text = readFileSync(file, 'utf8');
  const code = withoutComments(text);
  const area = areaOf(file);
  const report = (index, message) => {
    const line = text.slice(0, index).split('\n').length;
    violations.push(`${path.relative(root, file)}:${line}: ${message}`);
  };
  if (path.basename(file) === 'index.ts' && path.dirname(file) !== path.join(src, 'lib')) report(0, 'a barrel');
  for (const { index, specifier } of importsOf(code)) {
    if (specifier.startsWith('.')) checkOwn({ area, file, specifier, report: (message) => report(index, message) });
    else if (!specifier.startsWith('node:')) checkPackage(area, specifier, (message) => report(index, message));
  }
  for (const { index } of code.matchAll(/\bimport\(|\bimport\.meta\b|\bcreateRequire\b/g)) {
    report(index, 'import(), import.meta and createRequire do not work in the bundle');
  }
  if (TOP.has(area)) return;
  for (const match of code.matchAll(PROCESS_WORDS)) {
    report(match.index, `${match[0]} belongs to cli and commands; take it as an argument`);
  }
}

function checkOwn({ area, file, specifier, report }) {
  const target = path.resolve(path.dirname(file), specifier);
  if (!specifier.endsWith('.ts') && !specifier.endsWith('.json')) report(`${specifier} has no .ts`);
  if (!target.startsWith(src)) return;
  const other = areaOf(target);
  const own = LAYERS.findIndex((layer) => layer.includes(area));
  const below = LAYERS.findIndex((layer) => layer.includes(other));
  if (own < 0) report(`${area} is in no layer of scripts/check-imports.mjs`);
  else if (below > own) report(`${area} imports ${other}, which is above it`);
  if (STRANGERS.some((pair) => area !== other && pair.includes(area) && pair.includes(other)))
    report(`${area} and ${other} never import each other`);
}

function checkPackage(area, specifier, report) {
  const name = Object.keys(PACKAGES).find((known) => specifier === known || specifier.startsWith(`${known}/`));
  if (name === undefined) report(`${specifier} is not in scripts/check-imports.mjs`);
  else if (!PACKAGES[name].includes(area)) report(`only ${PACKAGES[name].join(' and ')} may import ${name}`);
  if (specifier === '@oclif/core') report('import a sub-path of @oclif/core: the index loads twice as many files');
}

/** `errors` for src/lib/errors.ts, `bpf` for src/lib/bpf/x.ts, `commands` for src/commands/x.ts. */
function areaOf(file) {
  const parts = path.relative(src, file).split(path.sep);
  const area = parts[0] === 'lib' ? parts[1] : parts[0];
  return (area ?? '').replace(/\.ts$/, '');
}

function* importsOf(code) {
  const statement = /^(?:import|export)\b(?:[^;=]*?\bfrom)?\s*'([^']+)'/gm;
  const call = /\brequire\(\s*['"`]([^'"`$]+)/g;
  for (const pattern of [statement, call]) {
    for (const match of code.matchAll(pattern)) yield { index: match.index, specifier: match[1] };
  }
}

/** Blanks comments, so that line numbers stay; strings that hold `//` survive because a quote is in front. */
function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(,])\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, ' '));
}

function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
