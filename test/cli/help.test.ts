/** Help screens are golden files, one a command: `npm run goldens` writes them, and the diff shows what users will see. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InstalledProgram, installProgram } from '../support/installed-program.ts';

const FOLDER = 'test/cli/help';
const UPDATE = process.env.IPC_UPDATE_GOLDENS === '1';
const COMMANDS = readdirSync('src/commands').map((name) => name.replace(/\.ts$/, ''));

let program: InstalledProgram;
beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());

function help(argv: readonly string[]): string {
  const { status, stdout, stderr } = program.run(argv, { env: { OCLIF_COLUMNS: '100' } });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  // Version and platform are not what these files are about.
  return stdout.replace(/ipc\/\S+ \S+ node-\S+/, 'ipc/VERSION');
}

function expectGolden(name: string, text: string): void {
  const file = path.join(FOLDER, `${name}.txt`);
  if (UPDATE) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, text);
  }
  expect(text, `${file} differs: npm run goldens`).toBe(readFileSync(file, 'utf8'));
}

describe('help', () => {
  it('of the program is its golden file, with and without words', () => {
    const text = help(['--help']);
    expectGolden('ipc', text);
    for (const argv of [[], ['help'], ['-h']]) expect(help(argv)).toBe(text);
  });

  it.each(COMMANDS)('of %s is its golden file', (command) => {
    const text = help([command, '--help']);
    expectGolden(command, text);
    expect(help(['help', command])).toBe(text);
  });

  it.each(COMMANDS)('of %s has two examples or more that name real flags', (command) => {
    const text = help([command, '--help']);
    const examples = text.slice(text.indexOf('\nEXAMPLES'));
    expect(examples.match(/^ *\$? ?.*\bipc /gm)?.length).toBeGreaterThanOrEqual(2);
    const known = text.slice(0, text.indexOf('\nEXAMPLES'));
    for (const [, flag] of examples.matchAll(/ipc [^|\n]*?(--[a-z-]+)/g)) expect(known).toContain(flag);
  });

  it('has no golden file of a command that is gone', () => {
    const files = readdirSync(FOLDER).map((name) => name.replace(/\.txt$/, ''));
    expect(files.sort()).toEqual(['ipc', ...COMMANDS].sort());
  });
});
