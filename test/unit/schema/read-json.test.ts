import { describe, expect, it } from 'vitest';
import { parseJsonDocument, requireShape } from '../../../src/lib/schema/read-json.ts';
import { compileSchema } from '../../../src/lib/schema/validator.ts';

describe('parseJsonDocument()', () => {
  it.each([
    ['', 'Cannot read f: it is empty', 0],
    ['[1,', 'Cannot read f: it is cut off after 3 bytes', 3],
    ['{"a":x}', 'Cannot read f: byte 5 is not JSON', 5],
  ])('names file and offset of %j', (text, message, offset) => {
    expect(() => parseJsonDocument(Buffer.from(text), 'f')).toThrow(
      expect.objectContaining({ message, exitCode: 9, operands: { file: 'f', offset } }),
    );
  });

  it('does not read bytes that are not UTF-8 as if they were', () => {
    const bytes = Buffer.concat([Buffer.from('["ä\ufffd'), Buffer.from([0xff]), Buffer.from('"]')]);
    expect(() => parseJsonDocument(bytes, 'f')).toThrow('Cannot read f: byte 7 is not UTF-8');
  });
});

describe('requireShape()', () => {
  it('names the field, where it begins and what is wrong with it', () => {
    const text = Buffer.from('{"list": [1, "2"]}');
    const check = compileSchema({ properties: { list: { items: { type: 'integer' } } } });
    expect(() => requireShape(JSON.parse(text.toString()), check, text, 'f', 'look')).toThrow(
      expect.objectContaining({
        message: 'Cannot read f: field list[1] at byte 13 is not a whole number',
        hint: 'look',
        operands: { file: 'f', offset: 13, field: 'list[1]' },
      }),
    );
  });
});
