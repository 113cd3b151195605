import { afterAll, beforeAll, expect, it } from 'vitest';
import { type InstalledProgram, installProgram } from '../support/installed-program.ts';
import { bestStartMs } from '../support/measure-start.ts';

/** The contract is 2.6 times `node -e 0`; a shared machine gets half as much again. */
const CONTRACT = 2.6;
const MARGIN = 1.5;
const ROUNDS = 7;

let program: InstalledProgram;
beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());

it('a command starts within the contract of what Node itself needs', () => {
  const { bin } = program;
  const lines = [
    ['-e', '0'],
    [bin, '--version'],
    [bin, '--help'],
    [bin, 'decode', '--key', '380000000000000108000000000000000000000000000000'],
    [bin, 'dump', '--map', '/nonexistent', '--json'],
  ];
  const [node = 0, ...starts] = bestStartMs(lines, ROUNDS);
  for (const [i, ms] of starts.entries()) {
    expect(ms / node, lines[i + 1]?.slice(1).join(' ')).toBeLessThan(CONTRACT * MARGIN);
  }
});
