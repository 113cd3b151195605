import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'ipc-imports-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function check(file: string, text: string): { status: number | null; lines: string[] } {
  const target = path.join(root, 'src', file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
  const { status, stdout } = spawnSync(process.execPath, ['scripts/check-imports.mjs', root], { encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

describe('check-imports refuses', () => {
  it.each([
    ['lib/net/a.ts', "import { x } from '../bpf/map.ts';", 'net imports bpf, which is above it'],
    ['lib/cache/a.ts', "import type { X } from '../ipcache/key.ts';", 'cache and ipcache never import each other'],
    ['lib/bpf/a.ts', "import {\n  x,\n} from '../cache/x.ts';", 'cache'],
    ['lib/output/a.ts', "export { x } from '../cli/log.ts';", 'output imports cli, which is above it'],
    ['lib/bpf/a.ts', 'export const a = process.env.X;', 'process.env belongs to cli and commands'],
    ['lib/bpf/a.ts', 'export const a = Date.now();', 'Date.now( belongs to cli and commands'],
    ['lib/bpf/a.ts', 'console.log(1);', 'console.log belongs to cli and commands'],
    ['lib/bpf/a.ts', "export const a = () => require('koffi');", 'only native may import koffi'],
    ['lib/cli/a.ts', "import chalk from 'chalk';", 'only output may import chalk'],
    ['lib/cli/a.ts', "import { Command } from '@oclif/core';", 'import a sub-path of @oclif/core'],
    ['lib/cli/a.ts', "import x from 'left-pad';", 'left-pad is not in scripts/check-imports.mjs'],
    ['lib/cli/a.ts', "export * from './log';", './log has no .ts'],
    ['lib/cli/a.ts', "export const a = () => import('./log.ts');", 'import(), import.meta and createRequire'],
    ['lib/bpf/index.ts', "export * from './map.ts';", 'a barrel'],
    ['lib/unknown/a.ts', "import { x } from '../net/x.ts';", 'unknown is in no layer'],
  ])('%s with %j', (file, text, message) => {
    const { status, lines } = check(file, text);
    expect(status).toBe(1);
    expect(lines[0]).toMatch(new RegExp(`^src/${file.replaceAll('.', '\\.')}:\\d+: `));
    expect(lines[0]).toContain(message);
  });
});

describe('check-imports allows', () => {
  it.each([
    ['lib/bpf/a.ts', "import { x } from '../net/x.ts';\nimport { readFileSync } from 'node:fs';\n"],
    ['lib/bpf/a.ts', '// process.env is not read here\n/* import(x) */\nexport const a = process.arch;\n'],
    ['lib/bpf/a.ts', "export const text = 'taken from';\nexport const b = 'x';\n"],
    ['commands/a.ts', "import { x } from '../lib/bpf/map.ts';\nexport const now = Date.now();\n"],
    ['lib/output/a.ts', "import type Chalk from 'chalk';\nexport const c = () => require('chalk') as typeof Chalk;\n"],
  ])('%s with %j', (file, text) => {
    expect(check(file, text)).toEqual({ status: 0, lines: ['imports: ok'] });
  });
});
