import { readFileSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MalformedError, NotFoundError } from '../../../src/lib/errors.ts';
import type { IdentityRecord } from '../../../src/lib/identity/caching-allocator.ts';
import { parseCheckpoint, readCheckpoint } from '../../../src/lib/identity/checkpoint.ts';
import { checkpointChunks, writeCheckpoint } from '../../../src/lib/identity/checkpoint-write.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { labelsModel } from '../../../src/lib/identity/labels-format.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ipc-checkpoint-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const one = '{"id":16777217,"labels":{"10.0.0.0/8":{"key":"10.0.0.0/8","source":"cidr"}}}';
const rows = (records: readonly IdentityRecord[]) => records.map(({ id, labels }) => [id, labelsModel(labels)]);
const parse = (text: string | Buffer) => parseCheckpoint(Buffer.from(text), 'state.json');

function fault(text: string | Buffer): MalformedError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof MalformedError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('parseCheckpoint()', () => {
  test.each([
    ['', 0, '', 'expected a list of identities, but the file ends'],
    [' \n\t', 3, '', 'expected a list of identities, but the file ends'],
    ['{}', 0, '', 'expected a list of identities, found "{"'],
    ['not json', 0, '', 'expected null, found "n"'],
    ['\ufeff[]', 0, '', 'expected a list of identities, found byte 0xef'],
    ['[', 1, '[0]', 'expected "{", but the file ends'],
    [`[${one},`, 78, '[1]', 'expected "{", but the file ends'],
    [`[${one},]`, 78, '[1]', 'expected "{", found "]"'],
    [`[${one}`, 77, '[0]', 'expected "," or "]" after an identity, but the file ends'],
    ['[null]', 1, '[0]', 'an identity is null, on which an agent would crash'],
    ['[7]', 1, '[0]', 'expected "{", found "7"'],
    ['[{"id":"1"}]', 7, '[0].id', 'expected an unsigned number, found "\\""'],
    ['[{"id":-1}]', 7, '[0].id', 'expected an unsigned number, found "-"'],
    ['[{"id":1.0}]', 7, '[0].id', 'the number is not a whole one'],
    ['[{"id":01}]', 8, '[0].id', 'expected "}", found "1"'],
    ['[{"id":4294967296}]', 7, '[0].id', 'the number is larger than 32 bits'],
    ['[{"id":5000000000}]', 7, '[0].id', 'the number is larger than 32 bits'],
    ['[{"id":1e3}]', 8, '[0].id', 'expected "}", found "e"'],
    ['[{"labels":[]}]', 11, '[0].labels', 'expected an object of labels, found "["'],
    ['[{"labels":{"a":7}}]', 16, '[0].labels["a"]', 'expected a label, as an object or a text, found "7"'],
    ['[{"labels":{"a":""}}]', 16, '[0].labels["a"]', 'the text of a label is empty'],
    ['[{"labels":{"a":null}}]', 16, '[0].labels["a"]', 'a label has no key'],
    ['[{"labels":{"a":{"source":"k8s"}}}]', 16, '[0].labels["a"]', 'a label has no key'],
    ['[{"labels":{"a":{"key":7}}}]', 23, '[0].labels["a"]', 'expected a text as the key of a label, found "7"'],
    ['[{"labels":{"a":{"key":"b}}}]', 23, '[0].labels["a"]', 'a text is cut off'],
    ['[{"labels":{"a":{"key":"\\x"}}}]', 24, '[0].labels["a"]', 'an escape is none of those that JSON has'],
    ['[{"labels":{"a":{"key":"\\u00g0"}}}]', 24, '[0].labels["a"]', 'an escape lacks its four hexadecimal digits'],
    ['[{"labels":{"a":{"key":"b\nc"}}}]', 25, '[0].labels["a"]', 'a text holds the control character 0x0a'],
    ['[{"x":[1,{"y":tru}]}]', 14, '[0].x', 'expected true, found "t"'],
    ['[{"x":01}]', 6, '[0].x', 'a number has a leading zero'],
    ['[{"x":1.}]', 6, '[0].x', 'a number has no digit after its point'],
    ['[{"x":1e}]', 6, '[0].x', 'a number has no digit in its exponent'],
    ['[{"x":[1}]', 8, '[0].x', 'expected "]", found "}"'],
  ])('refuses %j at its byte', (text, offset, field, state) => {
    const error = fault(text);
    expect(error.operands.offset).toBe(offset);
    expect(error.operands.field ?? '').toBe(field);
    expect(error.message).toContain(`Cannot read allocator checkpoint state.json: ${state} (at byte ${offset}`);
  });

  test('refuses nesting as deep as would end a recursive reader', () => {
    expect(fault(`[{"x":${'['.repeat(20_000)}`).message).toContain('nested too deep');
  });

  test('accepts what the agent accepts', () => {
    expect(parse('null')).toEqual([]);
    expect(parse('[] trailing')).toEqual([]);
    expect(rows(parse('[{}]'))).toEqual([[0, []]]);
    expect(rows(parse('[{"id":7,"id":null,"labels":{"a":"k8s:a"},"labels":null}]'))).toEqual([[7, []]]);
    expect(rows(parse('[{"ID":1,"LABELS":{"a":"k8s:a"},"labels":{"b":{"KEY":"b","Source":"k8s"}}}]'))).toEqual([
      [1, ['k8s:a', 'k8s:b']],
    ]);
    expect(rows(parse('[{"\\u0069d":5,"labels":{null:"k8s:a"}}]'))).toEqual([[5, ['k8s:a']]]);
  });

  test('lets a control character pass behind an escape of a map key, as the agent does', () => {
    expect(rows(parse('[{"id":5,"labels":{"a\\n\u0001":"k8s:a"}}]'))).toEqual([[5, ['k8s:a']]]);
  });

  test('wraps numbers beyond 32 bits only to compare with upstream', () => {
    const bytes = Buffer.from('[{"id":5000000000,"labels":{"a":"k8s:a"}}]');
    expect(parseCheckpoint(bytes, 'x', { strictUpstream: true })[0]?.id).toBe(5000000000 % 2 ** 32);
    expect(() => parseCheckpoint(Buffer.from('[{"id":4294967296}]'), 'x', { strictUpstream: true })).toThrow('32 bits');
  });

  test('any bytes give records or one MalformedError', () => {
    const piece = fc.constantFrom(
      ...'[]{}:,"\\ ',
      'null',
      one,
      '"id":',
      '"labels":',
      '16777217',
      '"k8s:a"',
      '\u0000',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          expect(Array.isArray(parse(pieces.join('')))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

const part = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'ab.-/:=;$"\\ ', '\n', 'é', '\u{1f600}'), maxLength: 8 }),
  fc.constantFrom('10.0.0.0/8', 'world-ipv4', 'cidr', 'k8s'),
);
const anyRecord = fc
  .record({
    id: fc.nat(0xffffff),
    labels: fc.array(fc.record({ source: part, key: part.filter((key) => key !== ''), value: part }), { maxLength: 4 }),
  })
  .map(({ id, labels }): IdentityRecord => ({ id: numericIdentity(id), labels: Labels.of(labels) }));

describe('checkpointChunks()', () => {
  test('is read back as the same records, with and without blanks between', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyRecord, { selector: ({ id }) => id, maxLength: 6 }), (records) => {
        const bytes = Buffer.concat([...checkpointChunks(records)]);
        const wanted = [...records].sort((a, b) => a.id - b.id).map(({ id, labels }) => [id, labels.entries()]);
        const spaced = JSON.stringify(JSON.parse(bytes.toString()), undefined, 1);
        for (const text of [bytes, Buffer.from(spaced)]) {
          expect(parse(text).map(({ id, labels }) => [id, labels.entries()])).toEqual(wanted);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('cuts many records into chunks that make one line', () => {
    const labels = Labels.parse(['cidr:10.0.0.0/8']);
    const records = Array.from({ length: 1300 }, (_, i) => ({ id: numericIdentity(1300 - i), labels }));
    const chunks = [...checkpointChunks(records)];
    expect(chunks.length).toBeGreaterThan(2);
    expect(parse(Buffer.concat(chunks)).map(({ id }) => id)).toEqual(Array.from({ length: 1300 }, (_, i) => i + 1));
  });
});

describe('readCheckpoint()', () => {
  test('a missing file is nothing, a missing directory too', () => {
    expect(readCheckpoint(join(directory, 'none.json'))).toBeUndefined();
    expect(readCheckpoint(join(directory, 'none', 'none.json'))).toBeUndefined();
  });

  test('a path through a file and a directory as file are errors of their own', async () => {
    await writeFile(join(directory, 'file'), '');
    expect(() => readCheckpoint(join(directory, 'file', 'x'))).toThrow(NotFoundError);
    expect(() => readCheckpoint(directory)).toThrow('it is a directory');
  });

  test.each([
    ['empty file', '', 'at byte 0'],
    ['half an array', `[${one}`, 'at byte 77'],
    ['null', 'null', undefined],
    ['duplicate id', `[${one},${one.replaceAll('10.', '11.')}]`, undefined],
    [
      'label map and short strings mixed',
      `[{"id":1,"labels":{"a":"k8s:a","b":{"key":"b","source":"k8s"}}}]`,
      undefined,
    ],
  ])('op 36 %s: a fixed outcome, and the file stays as it is', async (_, text, message) => {
    const path = join(directory, 'state.json');
    await writeFile(path, text, { mode: 0o400 });
    const before = await stat(path);
    if (message === undefined) expect(readCheckpoint(path)).toEqual(parse(text));
    else expect(() => readCheckpoint(path)).toThrow(message);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect((await stat(path)).mtimeMs).toBe(before.mtimeMs);
  });
});

describe('writeCheckpoint()', () => {
  test('leaves the old file when the records cannot be written', async () => {
    const path = join(directory, 'state.json');
    await writeFile(path, 'old');
    const failing = (function* (): Generator<IdentityRecord> {
      yield { id: numericIdentity(1), labels: Labels.EMPTY };
      throw new Error('broken off');
    })();
    await expect(writeCheckpoint(path, failing)).rejects.toThrow('broken off');
    expect(readFileSync(path, 'utf8')).toBe('old');
  });
});
