import { describe, expect, it } from 'vitest';
import { splitWords } from '../../../../src/lib/cli/batch/split-words.ts';

const words = (...list: string[]) => ({ kind: 'words', words: list });

describe('splitWords()', () => {
  it.each([
    ['get 10.0.0.1', ['get', '10.0.0.1']],
    ['  get\t10.0.0.1  ', ['get', '10.0.0.1']],
    ['', []],
    ['   # a comment', []],
    ['get ::1 # behind a command', ['get', '::1']],
    ['get a#b', ['get', 'a#b']],
    ['get ""#b', ['get', '#b']],
    ["--map '/a b/c'", ['--map', '/a b/c']],
    ["--map='/a b'/c", ['--map=/a b/c']],
    [`"a \\"b\\" \\\\ \\n 'c'"`, [`a "b" \\ \\n 'c'`]],
    [`'a \\ "b" # c'`, [`a \\ "b" # c`]],
    ['a\\ b \\# \\\\ \\"', ['a b', '#', '\\', '"']],
    ['\'\' x ""', ['', 'x', '']],
    ['get $HOME `x` *', ['get', '$HOME', '`x`', '*']],
  ])('of %j is %j', (line, expected) => {
    expect(splitWords(line)).toEqual(words(...expected));
  });

  it('says that a line goes on after a backslash at its end, but not within a comment or single quotes', () => {
    expect(splitWords('get a\\')).toEqual({ kind: 'continued', begun: { words: ['get'], word: 'a' } });
    expect(splitWords('b c', { words: ['get'], word: 'a' })).toEqual(words('get', 'ab', 'c'));
    expect(splitWords('get \\\\')).toEqual(words('get', '\\'));
    expect(splitWords('get # \\')).toEqual(words('get'));
    expect(splitWords("get 'a\\'")).toEqual(words('get', 'a\\'));
  });

  it.each([`get "a`, `get 'a`, `get a"b\\"`, `'`])('finds the quote of %j that is not closed', (line) => {
    expect(splitWords(line)).toMatchObject({ kind: 'malformed', problem: expect.stringContaining('not closed') });
  });
});
