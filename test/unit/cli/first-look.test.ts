import { describe, expect, it } from 'vitest';
import { commandLine, firstLook } from '../../../src/lib/cli/first-look.ts';
import { Log } from '../../../src/lib/cli/log.ts';

const words = (line: string): string[] => (line === '' ? [] : line.split(' '));

describe('commandLine()', () => {
  it.each([
    ['dump', 'dump'],
    ['dump -j', 'dump -j'],
    ['-j dump', 'dump -j'],
    ['-j -m /x dump --raw', 'dump -j -m /x --raw'],
    ['--map /x -qj get 10.0.0.1', 'get --map /x -qj 10.0.0.1'],
    ['--output=json dump', 'dump --output=json'],
    ['help dump', 'dump --help'],
    ['-j help dump', 'dump -j --help'],
    ['help -j dump', 'dump -j --help'],
    ['help', '--help'],
    ['--help', '--help'],
    ['--version', '--version'],
    ['-j', '-j'],
    ['', ''],
    ['-- dump', '-- dump'],
  ])('%j is %j', (given, expected) => {
    expect(commandLine(words(given))).toEqual(words(expected));
  });
});

describe('firstLook()', () => {
  it.each([
    ['dump', {}, 'text', 'info'],
    ['dump -j', {}, 'json', 'info'],
    ['dump --json --nope', {}, 'json', 'info'],
    ['dump -vj', {}, 'json', 'debug'],
    ['dump -o json', {}, 'json', 'info'],
    ['dump -ojson', {}, 'json', 'info'],
    ['dump --output=ndjson', {}, 'json', 'info'],
    ['dump -o csv', {}, 'text', 'info'],
    ['dump -o csv', { IPC_OUTPUT: 'json' }, 'text', 'info'],
    ['dump', { IPC_OUTPUT: 'json' }, 'json', 'info'],
    ['decode -- -j', {}, 'text', 'info'],
    ['dump --file -j', {}, 'text', 'info'],
  ])('%j with %j: %s, %s', (line, env, format, level) => {
    const log = new Log({ writeError: () => {} });
    firstLook(words(line), env, log);
    expect([log.format, log.level]).toEqual([format, level]);
  });
});
