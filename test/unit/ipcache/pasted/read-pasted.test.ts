import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedError, ToolError, UsageError } from '../../../../src/lib/errors.ts';
import type { PasteOrigin } from '../../../../src/lib/ipcache/pasted/pasted-entry.ts';
import { readPasted } from '../../../../src/lib/ipcache/pasted/read-pasted.ts';

const ARGUMENT: PasteOrigin = { from: 'argument' };
const FILE: PasteOrigin = { from: 'file', file: 'x.txt' };
const KEY = '40000000000000010a000004000000000000000000000000';
const VALUE = '39300000c0a8010a00000000000000000000000000000382';
const SHORT = '987f00000a65103300000000';

const toHex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');
const pairs = (hex: string) => hex.match(/../g) ?? [];
const spaced = (hex: string) => pairs(hex).join(' ');
const json = (hex: string) => pairs(hex).map((byte) => `0x${byte}`);
/** Keys and values in hex, as far as there are any. */
function read(text: string, origin = ARGUMENT) {
  return readPasted(text, origin).map(({ key, value }) => ({ key: toHex(key), value: toHex(value) }));
}
/** bpftool prints 16 bytes a line once key and value do not fit into one. */
const wrapped = (hex: string) => (hex.match(/.{1,32}/g) ?? []).map(spaced).join('\n');

describe('readPasted() of one entry', () => {
  test.each([
    ['digits', KEY + VALUE],
    ['two words', `${KEY} ${VALUE}`],
    ['spaced bytes', spaced(KEY + VALUE)],
    [
      'groups as in a manual',
      '40000000 0000 00 01 0a000004 0000000000000000 00000000 39300000 c0a8010a 0000000000000000 00000000 0000 03 82',
    ],
    ['0x before all', `0x${KEY} 0x${VALUE}`],
    ['0x before each', json(KEY + VALUE).join(' ')],
    [
      '0x without leading zeros',
      json(KEY + VALUE)
        .map((byte) => byte.replace('0x0', '0x'))
        .join(' '),
    ],
    ['upper case', (KEY + VALUE).toUpperCase()],
    [
      'C escapes',
      pairs(KEY + VALUE)
        .map((byte) => `\\x${byte}`)
        .join(''),
    ],
    ['colons', `${pairs(KEY).join(':')} ${pairs(VALUE).join(':')}`],
    ['commas', pairs(KEY + VALUE).join(', ')],
    ['part of JSON', `"key":${JSON.stringify(json(KEY))},"value":${JSON.stringify(json(VALUE))}`],
    ['bpftool, one line', `key: ${spaced(KEY)}  value: ${spaced(VALUE)}`],
    ['bpftool, wrapped', `key:\n${wrapped(KEY)}\nvalue:\n${wrapped(VALUE)}\nFound 1 element\n`],
    [
      'bpftool command',
      `# bpftool map update pinned /sys/fs/bpf/tc/globals/cilium_ipcache_v2 key hex ${spaced(KEY)} value hex ${spaced(VALUE)} any`,
    ],
    ['bpftool -j dump', JSON.stringify([{ key: json(KEY), value: json(VALUE) }])],
    ['bpftool -jp dump', JSON.stringify([{ key: json(KEY), value: json(VALUE), formatted: { key: {} } }], null, 4)],
    ['bpftool -j lookup', JSON.stringify({ key: json(KEY), value: json(VALUE) })],
    ['numbers', JSON.stringify({ key: [...Buffer.from(KEY, 'hex')], value: [...Buffer.from(VALUE, 'hex')] })],
    ['ipc --raw', JSON.stringify([{ prefix: '10.0.0.4/32', key: KEY, value: VALUE }])],
    ['one array', JSON.stringify(json(KEY + VALUE))],
  ])('takes %s', (_what, text) => {
    expect(read(text)).toEqual([{ key: KEY, value: VALUE }]);
    expect(read(text, FILE)).toEqual([{ key: KEY, value: VALUE }]);
  });

  test.each([
    ['24 bytes as a key', KEY, { key: KEY }],
    ['12 bytes as a value', SHORT, { value: SHORT }],
    ['8 bytes as a value', SHORT.slice(0, 16), { value: SHORT.slice(0, 16) }],
    ['36 bytes as both', KEY + SHORT, { key: KEY, value: SHORT }],
    ['32 bytes as both', KEY + SHORT.slice(0, 16), { key: KEY, value: SHORT.slice(0, 16) }],
    ['24 bytes called a value', `value ${VALUE}`, { value: VALUE }],
    ['a JSON array of 12', JSON.stringify(json(SHORT)), { value: SHORT }],
  ])('takes %s', (_what, text, wanted) =>
    expect(read(text)).toEqual([{ key: undefined, value: undefined, ...wanted }]),
  );

  test('says when 24 bytes were only taken for a key', () => {
    expect(readPasted(KEY, ARGUMENT)[0]?.guessed).toBe(true);
    expect(readPasted(`key ${KEY}`, ARGUMENT)[0]?.guessed).toBeUndefined();
  });
});

describe('readPasted() of many entries', () => {
  const two = [
    { key: KEY, value: VALUE },
    { key: KEY, value: VALUE },
  ];
  test.each([
    ['a line each', `${KEY}${VALUE}\n\n${spaced(KEY + VALUE)}\n`],
    [
      'bpftool lines',
      `key: ${spaced(KEY)}  value: ${spaced(VALUE)}\nkey: ${spaced(KEY)}  value: ${spaced(VALUE)}\nFound 2 elements\n`,
    ],
    [
      'bpftool wrapped',
      `key:\n${wrapped(KEY)}\nvalue:\n${wrapped(VALUE)}\nkey:\n${wrapped(KEY)}\nvalue:\n${wrapped(VALUE)}\n`,
    ],
    [
      'Windows line ends',
      `key: ${spaced(KEY)}  value: ${spaced(VALUE)}\r\nkey: ${spaced(KEY)}  value: ${spaced(VALUE)}\r\n`,
    ],
    [
      'JSON',
      JSON.stringify([
        { key: json(KEY), value: json(VALUE) },
        { key: json(KEY), value: json(VALUE) },
      ]),
    ],
    ['NDJSON', `${JSON.stringify({ key: KEY, value: VALUE })}\n${JSON.stringify({ key: KEY, value: VALUE })}\n`],
  ])('takes %s', (_what, text) => expect(read(text, FILE)).toEqual(two));

  test('takes keys of a line each, and one entry over two lines', () => {
    expect(read(`${KEY}\n${KEY}`, FILE)).toEqual([{ key: KEY }, { key: KEY }]);
    expect(read(wrapped(KEY), FILE)).toEqual([{ key: KEY }]);
  });

  test('takes both keys of bpftool map getnext', () => {
    expect(read(`key:\n${wrapped(KEY)}\nnext key:\n${wrapped(KEY)}\n`, FILE)).toEqual([{ key: KEY }, { key: KEY }]);
  });

  test('takes the dump of an empty map', () => expect(read('[]\n', FILE)).toEqual([]));
});

describe('readPasted() refuses', () => {
  test.each([
    ['nothing', '', 1, 'there are no bytes'],
    ['blank lines', ' \n\n', 1, 'there are no bytes'],
    ['words', 'hello', 1, '"hello" is not hexadecimal'],
    ['half a byte', `${KEY}\n40 0`, 2, '"0" has an odd number of digits'],
    [
      'a wrong size',
      `${KEY}\n\n${KEY}00`,
      3,
      '25 bytes are neither a key, a value nor both: a key has 24 bytes, a value 8, 12 or 24',
    ],
    ['a short key', `key: 40 00\nvalue: ${SHORT}`, 1, 'the key has 2 bytes'],
    ['a short value', `key: ${KEY}\nvalue: 40`, 1, 'the value has 1 byte,'],
    ['bytes before a word', `40 00\nkey: ${KEY}`, 1, 'bytes stand before the first "key" or "value"'],
    ['cut-off JSON', `[{"key":["0x40",\n"0x00"`, 2, 'it is not JSON'],
    ['a cut-off JSON line', `${JSON.stringify({ key: KEY })}\n{"key":`, 2, 'it is not JSON'],
    ['JSON without bytes', '[{"prefix":"10.0.0.0/8"}]', 1, 'element 1 has neither "key" nor "value"'],
    ['a byte of 256', '[256]', 1, 'it holds 256, which is not a byte'],
    ['nested JSON', '{"key":{"family":1}}', 1, '"key" of it is not an array of bytes'],
    ['mixed JSON', `[{"key":"${KEY}"},5]`, 1, 'which is not a byte'],
  ])('%s', (_what, text, line, state) => {
    expect(() => read(text)).toThrow(UsageError);
    expect(() => read(text)).toThrow('Cannot decode the bytes given: ');
    expect(() => read(text, FILE)).toThrow(MalformedError);
    expect(() => read(text, FILE)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(state), operands: { file: 'x.txt', line } }),
    );
  });

  test('does not repeat a whole file in its message', () => {
    expect(() => read('g'.repeat(10_000))).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{0,120}$/) }),
    );
  });
});

describe('any text', () => {
  const word = fc.constantFrom(
    'key',
    'value',
    ':',
    'hex',
    '0x',
    '40',
    '00',
    KEY,
    VALUE,
    SHORT,
    '[',
    ']',
    '{',
    '}',
    '"',
    ',',
    '\n',
    ' ',
    'Found 2 elements',
  );
  test('is entries of the right sizes or a ToolError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word).map((words) => words.join(' ')),
          fc.json(),
        ),
        (text) => {
          try {
            for (const { key, value } of readPasted(text, FILE)) {
              expect(key?.length ?? 24).toBe(24);
              expect([8, 12, 24]).toContain(value?.length ?? 24);
              expect(key ?? value).toBeDefined();
            }
          } catch (error) {
            expect(error).toBeInstanceOf(ToolError);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});
