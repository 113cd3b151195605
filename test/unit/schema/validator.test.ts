import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SchemaDocument } from '../../../src/lib/schema/json-schema.ts';
import { compileSchema } from '../../../src/lib/schema/validator.ts';

const item: SchemaDocument = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 1, maximum: 5 },
    kind: { enum: ['a', 'b'] },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-c]+$' }, minItems: 1 },
    inner: { $ref: '#/$defs/inner' },
    extra: { anyOf: [{ type: 'null' }, { type: 'object', required: ['x'], properties: { x: { const: 7 } } }] },
  },
  required: ['id'],
  additionalProperties: false,
  $defs: { inner: { type: ['array', 'boolean'], items: { $ref: '#' } } },
};

const problem = (value: unknown): string | undefined => {
  const violation = compileSchema(item)(value);
  return violation && `${violation.field} ${violation.problem}`;
};

describe('compileSchema()', () => {
  it('accepts what the schema allows', () => {
    expect(problem({ id: 5, kind: 'a', tags: ['abc'], inner: [{ id: 1 }], extra: { x: 7, y: 1 } })).toBeUndefined();
    expect(problem({ id: 1, inner: true, extra: null })).toBeUndefined();
  });

  it.each([
    [7, ' is not an object'],
    [{}, 'id is missing'],
    [{ id: 0 }, 'id is not from 1 to 5'],
    [{ id: 1.5 }, 'id is not a whole number'],
    [{ id: 1, kind: 'c' }, 'kind is not "a" or "b"'],
    [{ id: 1, tags: [] }, 'tags has fewer than 1 items'],
    [{ id: 1, tags: ['a', 'd'] }, 'tags[1] does not match ^[a-c]+$'],
    [{ id: 1, more: 1 }, 'more is not a field of this version'],
    [{ id: 1, inner: [{ id: 1 }, { id: 9 }] }, 'inner[1].id is not from 1 to 5'],
    [{ id: 1, inner: 'x' }, 'inner is not an array or true or false'],
    [{ id: 1, extra: { x: 8 } }, 'extra.x is not 7'],
  ])('names the place and the problem of %j', (value, words) => {
    expect(problem(value)).toBe(words);
  });

  it('follows a reference into another document', () => {
    const check = compileSchema({ type: 'array', items: { $ref: 'item.json' } }, { 'item.json': item });
    expect(check([{ id: 1 }])).toBeUndefined();
    expect(check([{ id: 1, inner: [{ id: 6 }] }])?.field).toBe('[0].inner[0].id');
  });

  it('refuses a schema with a keyword it would not check', () => {
    const schema = { type: 'object', patternProperties: {} } as SchemaDocument;
    expect(() => compileSchema(schema)).toThrow('keyword patternProperties is not supported');
    expect(() => compileSchema({ $ref: '#/$defs/none' })).toThrow('leads nowhere');
  });

  it('agrees with an independent validator on any value', () => {
    const reference = new Ajv2020({ strict: false }).compile(item);
    const ours = compileSchema(item);
    const id = fc.oneof(fc.integer({ min: -1, max: 7 }), fc.double(), fc.string());
    const leaf = fc.record({ id, kind: fc.constantFrom('a', 'b', 'c', null) }, { requiredKeys: [] });
    const value = fc.record(
      {
        id,
        tags: fc.array(fc.constantFrom('a', 'bc', 'd', '', 3)),
        inner: fc.oneof(fc.boolean(), fc.array(leaf), fc.constant(null)),
        extra: fc.oneof(
          fc.constant(null),
          fc.record({ x: fc.constantFrom(7, 8) }, { requiredKeys: [] }),
          fc.jsonValue(),
        ),
        other: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof({ weight: 5, arbitrary: value }, fc.jsonValue()), (input) => {
        expect(ours(input) === undefined).toBe(reference(input));
      }),
      { numRuns: 2000 },
    );
  });
});
