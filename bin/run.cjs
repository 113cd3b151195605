#!/usr/bin/env node
// Starts dist/index.cjs from its V8 code cache. A cache that is missing or that this Node rejects costs time, nothing else.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const Module = require('node:module');

const root = path.dirname(__dirname);
const file = path.join(root, 'dist', 'index.cjs');

/** @returns undefined when the file cannot be read */
function read(name, encoding) {
  try {
    return fs.readFileSync(name, encoding);
  } catch {
    return undefined;
  }
}

const source = read(file, 'utf8');
if (source === undefined) {
  process.stderr.write(
    `Error: Cannot start ipc: no bundle at ${file}\n  hint: run "npm ci && npm run build" in ${root}\n`,
  );
  process.exit(1);
}
const cachedData = read(path.join(root, 'dist', `index.${process.version}-${process.arch}.cache`));
const script = new vm.Script(Module.wrap(source), { filename: file, cachedData });
const bundle = { exports: {} };
const evaluate = script.runInThisContext();
evaluate.call(bundle.exports, bundle.exports, Module.createRequire(file), bundle, file, path.dirname(file));
void bundle.exports.start(root);
