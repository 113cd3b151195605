/**
 * An esbuild plugin: what a file of @oclif/core requires is loaded when it is first used, not when the file is. oclif's own
 * text stays as it is; each `require("x")` in it gets a stand-in whose exports are getters, which load x when they are read.
 * oclif is compiled by TypeScript, which reads imports at every use (`x_1.name`), so the stand-in cannot be told from x.
 */
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const OCLIF_LIB = `${path.sep}@oclif${path.sep}core${path.sep}lib${path.sep}`;

/** Two dependencies that oclif touches at every start for nothing that this program shows. */
const STAND_INS = {
  // Traces oclif's own steps under DEBUG; the real one opens the terminal to choose colours.
  debug: `
    const off = () => Object.assign(() => {}, { enabled: false, extend: off });
    module.exports = process.env.DEBUG ? require('debug') : off;`,
  // Tells Windows' subsystem from Linux, in the platform's name only.
  'wsl-utils': 'exports.isWsl = false;',
};

export const lazyRequires = {
  name: 'lazy-requires',
  setup(build) {
    build.onResolve({ filter: /^(debug|wsl-utils)$/ }, ({ path: name, importer }) =>
      importer.includes(OCLIF_LIB) ? { path: name, namespace: 'stand-in' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'stand-in' }, ({ path: name }) => ({
      contents: STAND_INS[name],
      resolveDir: import.meta.dirname ?? process.cwd(),
    }));
    build.onResolve({ filter: /.*/, namespace: 'file' }, ({ path: name, importer, kind }) => {
      if (kind !== 'require-call' || !importer.includes(OCLIF_LIB)) return undefined;
      if (build.initialOptions.external?.includes(name)) return undefined;
      const target = createRequire(importer).resolve(name);
      return target.endsWith('.json') ? undefined : { path: target, namespace: 'lazy' };
    });
    build.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path: target }) => ({
      contents: standIn(target),
      resolveDir: path.isAbsolute(target) ? path.dirname(target) : process.cwd(),
    }));
  },
};

/** The source of a module with the same exports as the target, loaded on first use. */
function standIn(target) {
  const real = require(target);
  const load = `const real = () => require(${JSON.stringify(target)});`;
  const base =
    typeof real === 'function'
      ? 'function call(...args) { return new.target ? Reflect.construct(real(), args) : Reflect.apply(real(), this, args); }'
      : 'const call = {};';
  const names = Object.keys(real).filter((name) => name !== '__esModule');
  const getters = names.map(
    (name) =>
      `Object.defineProperty(call, ${JSON.stringify(name)}, { enumerable: true, get: () => real()[${JSON.stringify(name)}] });`,
  );
  const esModule = real.__esModule ? "Object.defineProperty(call, '__esModule', { value: true });" : '';
  return [load, base, esModule, ...getters, 'module.exports = call;'].join('\n');
}
