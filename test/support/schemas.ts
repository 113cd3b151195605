/** The published schemas, all loaded, so that they may refer to each other. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

const FOLDER = 'schemas';
const ajv = new Ajv2020({ allowUnionTypes: true });
for (const name of readdirSync(FOLDER))
  ajv.addSchema(JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as object);

/** Asserts that a value fits `schemas/NAME.json`, or the definition behind `#`. */
export function expectFits(name: string, value: unknown): void {
  const [file, definition] = name.split('#');
  const validate = ajv.getSchema(`${file}.json${definition === undefined ? '' : `#/$defs/${definition}`}`);
  if (validate === undefined) throw new Error(`no schema ${name}`);
  const fits = validate(value);
  expect(fits, `${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)?.slice(0, 500)}`).toBe(true);
}
