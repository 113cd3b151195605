import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesFromText, compareText, hasEscapedBytes, textFromBytes } from '../../../src/lib/identity/utf8-text.ts';

const anyBytes = fc.uint8Array({ maxLength: 24 }).map((bytes) => Buffer.from(bytes));

describe('textFromBytes()', () => {
  test('gives back every byte string through bytesFromText()', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => bytesFromText(textFromBytes(bytes)).equals(bytes)),
      { numRuns: 2000 },
    );
  });

  test('reads valid UTF-8 as ordinary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(textFromBytes(Buffer.from(text))).toBe(text);
        expect(hasEscapedBytes(text)).toBe(false);
      }),
    );
  });

  test('keeps a replacement character that is really there', () => {
    expect(textFromBytes(Buffer.from('a\ufffdb'))).toBe('a\ufffdb');
  });

  test.each([
    ['overlong', [0xc0, 0x80]],
    ['surrogate', [0xed, 0xa0, 0x80]],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['cut off', [0xe2, 0x82]],
  ])('escapes each byte of a %s sequence', (_, bytes) => {
    const text = textFromBytes(Buffer.from(bytes));
    expect([...text].map((char) => (char.codePointAt(0) ?? 0) & 0xff)).toEqual(bytes);
    expect(hasEscapedBytes(text)).toBe(true);
  });
});

describe('compareText()', () => {
  test('orders as the bytes do', () => {
    fc.assert(
      fc.property(anyBytes, anyBytes, (a, b) => {
        expect(Math.sign(compareText(textFromBytes(a), textFromBytes(b)))).toBe(Buffer.compare(a, b));
      }),
      { numRuns: 2000 },
    );
  });

  test('puts a supplementary character behind U+FFFF, where UTF-16 has it before', () => {
    expect(compareText('\u{1f600}', '\uffff')).toBeGreaterThan(0);
  });
});
