/** What the flags and arguments of every command have in common; a command that forgets one of the rules fails here. */
import { readdirSync } from 'node:fs';
import type { Command } from '@oclif/core/command';
import { describe, expect, it } from 'vitest';
import { variableOf } from '../../src/lib/cli/define.ts';
import { sharedFlags } from '../../src/lib/cli/shared-flags.ts';

const COMMANDS = await Promise.all(
  readdirSync('src/commands').map(async (file) => {
    const name = file.replace(/\.ts$/, '');
    const { default: command } = (await import(`../../src/commands/${name}.ts`)) as { default: typeof Command };
    return { name, command, flags: { ...command.flags, ...command.baseFlags } };
  }),
);

/** Commands that change a map, a file or a state. */
const CHANGING = ['snapshot', 'restore', 'release', 'set', 'delete', 'gc'];

/** Variables of other programs that a flag may be the twin of. */
const FOREIGN = ['CILIUM_SOCK', 'TC_BPF_MNT', 'KUBECONFIG', 'NO_COLOR'];

describe.each(COMMANDS)('ipc $name', ({ command, flags }) => {
  it('has the shared flags, a summary and two examples or more', () => {
    expect(Object.keys(flags)).toEqual(expect.arrayContaining(Object.keys(sharedFlags({ outputs: ['table'] }))));
    expect(command.summary).toMatch(/^[a-z].*[^.]$/);
    expect(command.examples?.length ?? 0).toBeGreaterThanOrEqual(2);
  });

  it('keeps scalar flags to their own variable, and repeatable ones to none', () => {
    for (const [flag, definition] of Object.entries(flags)) {
      const variable = definition.env ?? '';
      if (definition.type === 'option' && definition.multiple) {
        expect({ flag, variable, greedy: !definition.multipleNonGreedy }).toEqual({
          flag,
          variable: '',
          greedy: false,
        });
      } else if (variable !== '') {
        expect({ flag, variable }).toEqual({ flag, variable: variableOf(flag) });
        expect(FOREIGN).not.toContain(variable);
      }
    }
  });

  it('describes every flag in a line without a final period', () => {
    for (const [flag, { summary }] of Object.entries(flags)) {
      expect(`${flag}: ${summary}`).toMatch(new RegExp(`^${flag}: .*[^.]$`));
      expect(`${flag}: ${summary}`).not.toContain('undefined');
    }
  });

  it('reads no argument from standard input by itself', () => {
    for (const [arg, { ignoreStdin }] of Object.entries(command.args)) {
      expect({ arg, ignoreStdin }).toEqual({ arg, ignoreStdin: true });
    }
  });
});

it.each(COMMANDS.filter(({ name }) => CHANGING.includes(name)))('ipc $name has --dry-run as -n', ({ flags }) => {
  expect(flags['dry-run']).toMatchObject({ type: 'boolean', char: 'n' });
});
