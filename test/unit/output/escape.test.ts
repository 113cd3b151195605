import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeText, safeJson } from '../../../src/lib/output/escape.ts';

/** What a terminal may act on or cannot show: anything but printable characters, in Unicode's own classes. */
const ACTS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]|[\u200b\u2060\ufeff]/u;

describe('escapeText()', () => {
  it.each([
    ['k8s:app=web', 'k8s:app=web'],
    ['Zürich 東京 🙂', 'Zürich 東京 🙂'],
    ['\u001b[31mred', '\\x1b[31mred'],
    ['a\nb\tc\r', 'a\\x0ab\\x09c\\x0d'],
    ['\u009b31m', '\\x9b31m'],
    ['\u007f', '\\x7f'],
    ['abc\u202etxt.exe', 'abc\\u{202e}txt.exe'],
    ['\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['a\u200bb', 'a\\u{200b}b'],
    ['\ud800', '\\u{d800}'],
    ['x\udc00y', 'x\\u{dc00}y'],
    ['\u{e0041}', '\\u{e0041}'],
    ['', ''],
  ])('%j becomes %j', (text, escaped) => {
    expect(escapeText(text)).toBe(escaped);
  });

  it('lets nothing through that acts, and keeps every other character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeText(text);
        expect(escaped).not.toMatch(ACTS);
        if (!ACTS.test(text) && !/\p{Cf}/u.test(text)) expect(escaped).toBe(text);
      }),
    );
  });
});

describe('safeJson()', () => {
  it('escapes inside strings what JSON.stringify leaves as it is', () => {
    expect(safeJson({ a: '\u009b\u202e\u{e0041}' })).toBe('{"a":"\\u009b\\u202e\\udb40\\udc41"}');
  });

  it('parses to the same value and holds nothing that acts', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const json = safeJson(value);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(json).not.toMatch(ACTS);
      }),
    );
  });
});
