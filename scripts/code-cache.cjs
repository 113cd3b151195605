// Runs the bundle through common command lines in one process, then stores what V8 compiled. Child of build.mjs.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const Module = require('node:module');

const root = path.dirname(__dirname);
const file = path.join(root, 'dist', 'index.cjs');
const script = new vm.Script(Module.wrap(fs.readFileSync(file, 'utf8')), { filename: file });
const bundle = { exports: {} };
const evaluate = script.runInThisContext();
evaluate.call(bundle.exports, bundle.exports, Module.createRequire(file), bundle, file, path.dirname(file));

async function main() {
  const none = '/nonexistent/pin';
  const runs = [
    ['--help'],
    ['--version'],
    ...Object.keys(bundle.exports.COMMANDS).flatMap((id) => [
      [id, '--map', none],
      [id, '--help'],
    ]),
  ];
  for (const argv of runs) await bundle.exports.start(root, argv);
  const target = path.join(root, 'dist', `index.${process.version}-${process.arch}.cache`);
  fs.writeFileSync(`${target}.new`, script.createCachedData());
  fs.renameSync(`${target}.new`, target);
  process.exit(0);
}
void main();
