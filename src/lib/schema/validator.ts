/**
 * Checks a parsed JSON value against one of the published schemas in `schemas/`, turned into closures once.
 * It knows only the JSON Schema 2020-12 keywords that those files use and refuses a schema with any other,
 * so that no rule of a published schema can be passed over in silence.
 */
import { isAnnotation, type JsonSchema, type JsonType, resolveReference, type SchemaDocument } from './json-schema.ts';

/** The first place where a value breaks its schema. */
export interface Violation {
  /** Such as `identities[3].labels`; empty for the value as a whole. */
  readonly field: string;
  /** Continues a sentence whose subject is the field: `is not a string`. */
  readonly problem: string;
}

/** @returns undefined when the value is valid. */
export type Validator = (value: unknown) => Violation | undefined;

/**
 * Turns a schema into a function.
 * @param others documents that `$ref` may name by their file name
 * @throws {TypeError} for a keyword or reference this file does not know: a defect of the schema, not of the input
 */
export function compileSchema(
  schema: SchemaDocument,
  others: Readonly<Record<string, SchemaDocument>> = {},
): Validator {
  return new Compiler(others).compile(schema, schema);
}

class Compiler {
  readonly #others: Readonly<Record<string, SchemaDocument>>;
  readonly #done = new Map<JsonSchema, Validator>();

  constructor(others: Readonly<Record<string, SchemaDocument>>) {
    this.#others = others;
  }

  compile(schema: JsonSchema, root: SchemaDocument): Validator {
    const known = this.#done.get(schema);
    if (known !== undefined) return known;
    let checks: readonly Validator[] = [];
    const all: Validator = (value) => {
      for (const check of checks) {
        const violation = check(value);
        if (violation !== undefined) return violation;
      }
      return undefined;
    };
    this.#done.set(schema, all); // before the parts, so that a schema may refer to itself
    checks = this.#checks(schema, root);
    return all;
  }

  #checks(schema: JsonSchema, root: SchemaDocument): Validator[] {
    const checks: Validator[] = [];
    for (const keyword of Object.keys(schema))
      if (!isAnnotation(keyword) && !KNOWN.has(keyword)) throw unknown(keyword);
    if (schema.$ref !== undefined) {
      const target = resolveReference(schema.$ref, root, this.#others);
      checks.push(this.compile(target.schema, target.root));
    }
    if (schema.type !== undefined) checks.push(typeCheck(Array.isArray(schema.type) ? schema.type : [schema.type]));
    if (schema.const !== undefined) checks.push(oneOfValues([schema.const]));
    if (schema.enum !== undefined) checks.push(oneOfValues(schema.enum));
    if (schema.pattern !== undefined) checks.push(patternCheck(new RegExp(schema.pattern, 'u')));
    if (schema.minimum !== undefined || schema.maximum !== undefined) checks.push(rangeCheck(schema));
    if (schema.minItems !== undefined) checks.push(minItemsCheck(schema.minItems));
    if (schema.items !== undefined) checks.push(itemsCheck(this.compile(schema.items, root)));
    if (schema.properties !== undefined || schema.required !== undefined || schema.additionalProperties !== undefined) {
      checks.push(this.#objectCheck(schema, root));
    }
    if (schema.anyOf !== undefined) checks.push(anyOfCheck(schema.anyOf.map((one) => this.compile(one, root))));
    return checks;
  }

  #objectCheck(schema: JsonSchema, root: SchemaDocument): Validator {
    const properties = new Map<string, Validator>();
    for (const [name, one] of Object.entries(schema.properties ?? {})) properties.set(name, this.compile(one, root));
    const required = schema.required ?? [];
    const more = schema.additionalProperties ?? true;
    const others = typeof more === 'boolean' ? undefined : this.compile(more, root);
    return (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
      for (const name of required) {
        if (!Object.hasOwn(value, name)) return { field: name, problem: 'is missing' };
      }
      const members = value as Readonly<Record<string, unknown>>;
      for (const name in members) {
        const check = properties.get(name) ?? others;
        if (check === undefined) {
          if (more === false) return { field: name, problem: 'is not a field of this version' };
          continue;
        }
        const violation = check(members[name]);
        if (violation !== undefined) return below(name, violation);
      }
      return undefined;
    };
  }
}

const KNOWN: ReadonlySet<string> = new Set([
  '$ref',
  'type',
  'const',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'minItems',
  'items',
  'properties',
  'required',
  'additionalProperties',
  'anyOf',
]);

function unknown(keyword: string): TypeError {
  return new TypeError(`Cannot compile schema: keyword ${keyword} is not supported`);
}

function below(parent: string, { field, problem }: Violation): Violation {
  if (field === '') return { field: parent, problem };
  return { field: field.startsWith('[') ? `${parent}${field}` : `${parent}.${field}`, problem };
}

const TYPES: Readonly<Record<JsonType, { readonly words: string; readonly test: (value: unknown) => boolean }>> = {
  null: { words: 'null', test: (value) => value === null },
  boolean: { words: 'true or false', test: (value) => typeof value === 'boolean' },
  integer: { words: 'a whole number', test: (value) => Number.isInteger(value) },
  number: { words: 'a number', test: (value) => typeof value === 'number' },
  string: { words: 'a string', test: (value) => typeof value === 'string' },
  array: { words: 'an array', test: (value) => Array.isArray(value) },
  object: {
    words: 'an object',
    test: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
};

function typeCheck(types: readonly JsonType[]): Validator {
  const violation = { field: '', problem: `is not ${types.map((type) => TYPES[type].words).join(' or ')}` };
  const tests = types.map((type) => TYPES[type].test);
  return (value) => (tests.some((test) => test(value)) ? undefined : violation);
}

function oneOfValues(values: readonly unknown[]): Validator {
  const violation = { field: '', problem: `is not ${values.map((value) => JSON.stringify(value)).join(' or ')}` };
  return (value) => (values.includes(value) ? undefined : violation);
}

function patternCheck(pattern: RegExp): Validator {
  const violation = { field: '', problem: `does not match ${pattern.source}` };
  return (value) => (typeof value !== 'string' || pattern.test(value) ? undefined : violation);
}

function rangeCheck({ minimum = -Infinity, maximum = Infinity }: JsonSchema): Validator {
  const words = minimum === -Infinity ? `at most ${maximum}` : maximum === Infinity ? `at least ${minimum}` : undefined;
  const violation = { field: '', problem: `is not ${words ?? `from ${minimum} to ${maximum}`}` };
  return (value) => (typeof value !== 'number' || (value >= minimum && value <= maximum) ? undefined : violation);
}

function minItemsCheck(least: number): Validator {
  const violation = { field: '', problem: `has fewer than ${least} items` };
  return (value) => (!Array.isArray(value) || value.length >= least ? undefined : violation);
}

function itemsCheck(check: Validator): Validator {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    for (let i = 0; i < value.length; i++) {
      const violation = check(value[i]);
      if (violation !== undefined) return below(`[${i}]`, violation);
    }
    return undefined;
  };
}

/** The alternative that got furthest into the value is the one that was meant. */
function anyOfCheck(alternatives: readonly Validator[]): Validator {
  return (value) => {
    let nearest: Violation | undefined;
    for (const check of alternatives) {
      const violation = check(value);
      if (violation === undefined) return undefined;
      if (nearest === undefined || violation.field.length > nearest.field.length) nearest = violation;
    }
    return nearest;
  };
}
