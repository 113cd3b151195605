/** Empty words come from variables of a script that are not set; none of them may become a path. */
import { describe, expect, test } from 'vitest';
import Batch from '../../src/commands/batch.ts';
import Encode from '../../src/commands/encode.ts';
import Snapshot from '../../src/commands/snapshot.ts';
import { errorOf, runCommand } from '../support/run-command.ts';

const ENCODE = ['10.0.0.1', '--identity', '5'];

describe('an empty word is a usage error', () => {
  test.each([
    ['--file ""', Encode, [...ENCODE, '--file', ''], '--file'],
    ['--file=', Encode, [...ENCODE, '--file='], '--file'],
    ['--state-dir ""', Encode, [...ENCODE, '--state-dir', ''], '--state-dir'],
    ['-m ""', Encode, [...ENCODE, '-m', ''], '--map'],
    ['as the file of batch', Batch, [''], 'a file'],
  ] as const)('%s', async (_, command, argv, what) => {
    const result = await runCommand(command, ['--json', ...argv]);
    expect([result.exitCode, result.stdout]).toEqual([2, '']);
    expect(errorOf(result)).toMatchObject({ code: 'EMPTY_VALUE', message: expect.stringContaining(what) });
  });

  test.each([[['']], [['--keep', '3', '']]])('as the file of snapshot: %j', async (argv) => {
    const result = await runCommand(Snapshot, ['--json', '--map', '/nonexistent', ...argv]);
    expect([result.exitCode, result.stdout]).toEqual([2, '']);
    expect(errorOf(result)).toMatchObject({ code: 'EMPTY_VALUE' });
  });
});
