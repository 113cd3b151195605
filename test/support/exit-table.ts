/** One row for each way a command can end; each row is run as text and under --json. */
import { expect, it } from 'vitest';
import type { InstalledProgram, SpawnOptions, SpawnResult } from './installed-program.ts';
import { expectFits } from './schemas.ts';

export interface ExitRow extends SpawnOptions {
  /** The condition, in words. */
  readonly when: string;
  readonly argv: readonly string[];
  readonly exit: number;
  /** The code in the JSON error, where it is part of the contract. */
  readonly code?: string;
  /** What the text message must say. */
  readonly says?: RegExp;
  /** True where the result is printed and only the status tells the failure (7, 8, 10). */
  readonly prints?: boolean;
  /** False for a command line that cannot take --json at its end. */
  readonly json?: boolean;
}

const BUG = 70;

/** Makes one test of each row. @param program a function, because it is installed only when tests run */
export function itExits(
  program: () => InstalledProgram,
  rows: () => readonly ExitRow[],
  names: readonly string[],
): void {
  for (const [index, name] of names.entries()) {
    it(name, () => {
      const row = rows()[index];
      if (row === undefined) throw new Error(`no row ${index}`);
      checkText(program().run(row.argv, row), row);
      if (row.json !== false) checkJson(program().run([...row.argv, '--json'], row), row);
    });
  }
}

/** The name of a row's test. */
export function rowName(row: Pick<ExitRow, 'when' | 'argv' | 'exit'>): string {
  return `ipc ${row.argv[0] ?? ''} exits ${row.exit} when ${row.when}`;
}

function checkText({ status, stdout, stderr }: SpawnResult, row: ExitRow): void {
  expect(status, stderr).toBe(row.exit);
  if (row.exit === 0) return;
  if (!row.prints) expect(stdout).toBe('');
  expect(stderr).toMatch(/^Error: /m);
  if (row.says !== undefined) expect(stderr).toMatch(row.says);
  if (row.exit === BUG) return;
  expect(stderr).not.toMatch(/^\s+at .*:\d+/m);
  // The message is one line and never wrapped; the hint stands below it.
  const [message, hint, ...rest] = stderr.slice(stderr.indexOf('Error: ')).trimEnd().split('\n');
  expect(message).toMatch(/^Error: Cannot .*[^.]$/);
  if (hint !== undefined) expect(hint).toMatch(/^ {2}hint: /);
  expect(rest).toEqual([]);
}

function checkJson({ status, stdout, stderr }: SpawnResult, row: ExitRow): void {
  expect(status, stderr).toBe(row.exit);
  if (stdout !== '') JSON.parse(stdout);
  const lines = stderr
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '');
  const documents = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  if (row.exit === 0) return;
  if (!row.prints) expect(stdout).toBe('');
  const last = documents.at(-1) as { error?: Record<string, unknown> } | undefined;
  expectFits('error', last);
  expect(last?.error).toMatchObject({ exitCode: row.exit, message: expect.stringMatching(/^Cannot .*[^.]$/) });
  if (row.code !== undefined) expect(last?.error?.code).toBe(row.code);
  for (const line of documents.slice(0, -1)) expectFits('level' in line ? 'log-line' : 'line', line);
}
