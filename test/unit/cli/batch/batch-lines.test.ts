import { describe, expect, it } from 'vitest';
import { type BatchLine, batchLines, LONGEST_LINE_BYTES } from '../../../../src/lib/cli/batch/batch-lines.ts';

async function linesOf(...chunks: (string | Uint8Array)[]): Promise<BatchLine[]> {
  async function* source(): AsyncGenerator<string | Uint8Array> {
    yield* chunks;
  }
  const found: BatchLine[] = [];
  for await (const line of batchLines(source())) found.push(line);
  return found;
}

describe('batchLines()', () => {
  it('counts lines, passes over blank ones and comments, needs no newline at the end', async () => {
    expect(await linesOf('# head\n\ndump\n   \r\nget ::1\r\nstats')).toEqual([
      { line: 3, words: ['dump'] },
      { line: 5, words: ['get', '::1'] },
      { line: 6, words: ['stats'] },
    ]);
  });

  it('gives the same whatever the pieces are', async () => {
    const text = 'get "a ä b"\\\n c\n\nx # ü\n';
    const whole = await linesOf(text);
    expect(whole).toEqual([
      { line: 1, words: ['get', 'a ä b', 'c'] },
      { line: 4, words: ['x'] },
    ]);
    const bytes = Buffer.from(text);
    for (let at = 1; at < bytes.length; at++) {
      expect(await linesOf(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
    }
  });

  it('passes over a byte order mark', async () => {
    expect(await linesOf('\ufeffdump\n')).toEqual([{ line: 1, words: ['dump'] }]);
  });

  it('names the first line of a command that goes over several', async () => {
    expect(await linesOf('a \\\n b \\\n c\nd')).toEqual([
      { line: 1, words: ['a', 'b', 'c'] },
      { line: 4, words: ['d'] },
    ]);
  });

  it('tells what is malformed and goes on', async () => {
    expect(await linesOf('get "x\n', Uint8Array.of(0x67, 0xff, 0x0a), 'dump\n', 'x \\')).toEqual([
      { line: 1, words: [], problem: 'the quote " is not closed' },
      { line: 2, words: [], problem: 'it is not UTF-8' },
      { line: 3, words: ['dump'] },
      { line: 4, words: [], problem: 'it ends in a backslash and no line follows' },
    ]);
  });

  it('stops at a line without an end instead of holding all of it', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('dump\n');
      for (; ; given += 65_536) yield Buffer.alloc(65_536, 'x');
    }
    const found: BatchLine[] = [];
    for await (const line of batchLines(endless())) found.push(line);
    expect(found.map(({ line, problem }) => [line, problem])).toEqual([
      [1, undefined],
      [2, `it is longer than ${LONGEST_LINE_BYTES} bytes`],
    ]);
    expect(given).toBeLessThan(2 * LONGEST_LINE_BYTES);
    const continued = 'x \\\n'.repeat(400_000);
    expect((await linesOf(continued)).map(({ problem }) => problem)).toEqual([
      `it is longer than ${LONGEST_LINE_BYTES} bytes`,
    ]);
  });
});
