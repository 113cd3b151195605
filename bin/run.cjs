#!/usr/bin/env node
// Starts dist/index.cjs from its V8 code cache. A cache that is missing, of another build or that this Node rejects costs
// time and nothing else.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const { createRequire, wrap } = require('node:module');

const root = path.dirname(__dirname);
const file = path.join(root, 'dist', 'index.cjs');
const DIGEST_LENGTH = 16;

/** @returns undefined when the file cannot be read */
function read(name, encoding) {
  try {
    return fs.readFileSync(name, encoding);
  } catch {
    return undefined;
  }
}

// The bundle is ASCII, and latin1 is the encoding that needs no decoding.
const source = read(file, 'latin1');
if (source === undefined) {
  process.stderr.write(
    `Error: Cannot start ipc: no bundle at ${file}\n  hint: run "npm ci && npm run build" in ${root}\n`,
  );
  process.exit(1);
}
const cache = read(path.join(root, 'dist', `index.${process.version}-${process.arch}.cache`));
const sameBuild = cache?.latin1Slice(0, DIGEST_LENGTH) === source.slice(2, 2 + DIGEST_LENGTH);
const script = new vm.Script(wrap(source), {
  filename: file,
  cachedData: sameBuild ? cache.subarray(DIGEST_LENGTH) : undefined,
});
const bundle = { exports: {} };
script.runInThisContext()(bundle.exports, createRequire(file), bundle, file, path.dirname(file));
void bundle.exports.start(root);
