import { describe, expect, it } from 'vitest';
import { type FlagShape, scanArgv } from '../../../src/lib/cli/argv-scan.ts';

const FLAGS: Record<string, FlagShape> = {
  map: { type: 'option', char: 'm' },
  json: { type: 'boolean', char: 'j' },
  quiet: { type: 'boolean', char: 'q' },
  colour: { type: 'boolean', allowNo: true, aliases: ['color'] },
};

function scan(line: string) {
  const { values, unknown, positionals, commandAt } = scanArgv(line === '' ? [] : line.split(' '), FLAGS);
  return { values: Object.fromEntries(values), unknown, positionals, commandAt };
}

describe('scanArgv() finds', () => {
  it.each([
    ['', {}, [], []],
    ['a b', {}, [], ['a', 'b']],
    ['--map x', { map: ['x'] }, [], []],
    ['--map=x=y', { map: ['x=y'] }, [], []],
    ['-m x', { map: ['x'] }, [], []],
    ['-mx', { map: ['x'] }, [], []],
    ['-m=x', { map: ['x'] }, [], []],
    ['--map --json', { map: ['--json'] }, [], []],
    ['--map', {}, [], []],
    ['-jq a', { json: [true], quiet: [true] }, [], ['a']],
    ['-qmx a', { quiet: [true], map: ['x'] }, [], ['a']],
    ['-jm x', { json: [true], map: ['x'] }, [], []],
    ['--color --no-colour', { colour: [true, false] }, [], []],
    ['--no-json', {}, ['--no-json'], []],
    ['--jsno', {}, ['--jsno'], []],
    ['--jsno=1 a', {}, ['--jsno'], ['a']],
    ['-jx', { json: [true] }, ['-x'], []],
    ['-', {}, [], ['-']],
    ['-5', {}, [], ['-5']],
    ['a -- --json -x', {}, [], ['a', '--json', '-x']],
    ['--map x --map y', { map: ['x', 'y'] }, [], []],
  ])('%j: values %j, unknown %j, positionals %j', (line, values, unknown, positionals) => {
    expect(scan(line)).toMatchObject({ values, unknown, positionals });
  });

  it.each([
    ['dump -j', 0],
    ['-j -m x dump', 3],
    ['-j', undefined],
    ['-- dump', undefined],
  ])('%j: the command at %j', (line, commandAt) => {
    expect(scan(line).commandAt).toBe(commandAt);
  });
});
