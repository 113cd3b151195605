import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BaseCommand } from '../../src/lib/cli/base-command.ts';
import { FindingError, MalformedError } from '../../src/lib/errors.ts';
import { errorOf, runCommand } from '../support/run-command.ts';
import { commandThat } from '../support/sample-command.ts';
import { expectFits } from '../support/schemas.ts';

const COMMANDS = readdirSync('src/commands').map((name) => name.replace(/\.ts$/, ''));

describe('schemas', () => {
  it.each(COMMANDS)('describe the JSON of %s, where it has any', async (command) => {
    const { default: type } = (await import(`../../src/commands/${command}.ts`)) as { default: typeof BaseCommand };
    const { options } = type.baseFlags.output as unknown as { readonly options: readonly string[] };
    expect(existsSync(`schemas/${command}.json`)).toBe(options.includes('json'));
  });

  it.each(readdirSync('schemas'))('%s names itself, its draft and what it is of', (name) => {
    const schema = JSON.parse(readFileSync(`schemas/${name}`, 'utf8'));
    expect(schema).toMatchObject({ $id: name, $schema: expect.stringContaining('2020-12'), title: expect.any(String) });
  });

  it('error describes the last line of a failed run, with operands of every type', async () => {
    const failing = commandThat(async () => {
      throw new MalformedError('Cannot read x', {
        operands: { file: 'x', line: 3, offset: 0, others: ['a'], flag: true },
      });
    });
    const result = await runCommand(failing, ['--json']);
    expectFits('error', JSON.parse(result.stderr));
    expect(errorOf(result)).toMatchObject({ file: 'x', line: 3, offset: 0, others: ['a'], flag: true });
  });

  it('log-line describes warnings and failures that do not decide', async () => {
    const failing = commandThat(async ({ warn }) => {
      warn('careful');
      throw new AggregateError([new FindingError('Cannot a'), new MalformedError('Cannot b')]);
    });
    const lines = (await runCommand(failing, ['--json'])).stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    for (const line of lines.slice(0, 2)) expectFits('log-line', JSON.parse(line));
    expectFits('error', JSON.parse(lines[2] ?? ''));
  });

  it('refuse what is not of their kind', () => {
    expect(() => expectFits('error', { error: { code: 'x', message: 'm', exitCode: 2 } })).toThrow(/pattern/);
    expect(() => expectFits('entry', { prefix: '10.0.0.0/8' })).toThrow(/required/);
    expect(() => expectFits('nothing', {})).toThrow('no schema');
  });
});
