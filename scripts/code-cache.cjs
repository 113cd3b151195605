// Runs the bundle through common command lines in one process, then stores what V8 compiled. Child of build.mjs.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const { createRequire, wrap } = require('node:module');

const root = path.dirname(__dirname);
const file = path.join(root, 'dist', 'index.cjs');
const source = fs.readFileSync(file, 'latin1');
// Wrapped exactly as in bin/run.cjs, or V8 would reject the cache.
const script = new vm.Script(wrap(source), { filename: file });
const bundle = { exports: {} };
script.runInThisContext()(bundle.exports, createRequire(file), bundle, file, path.dirname(file));

// What every command runs through, with the two that scripts call most. All of the cache is read at every start, so code that
// another command needs is better compiled when that command runs.
const RUNS = [
  ['--version'],
  ['dump', '--json', '--map', '/nonexistent'],
  ['get', '192.0.2.1', '--json', '--map', '/nonexistent'],
];

async function main() {
  const { exit } = process;
  process.exit = () => {};
  for (const argv of RUNS) await bundle.exports.start(root, argv);
  const digest = Buffer.from(source.slice(2, 18), 'latin1');
  const target = path.join(root, 'dist', `index.${process.version}-${process.arch}.cache`);
  const temporary = `${target}.${process.pid}.new`;
  fs.writeFileSync(temporary, Buffer.concat([digest, script.createCachedData()]));
  fs.renameSync(temporary, target);
  exit(0);
}
void main();
