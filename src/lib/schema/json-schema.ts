/** The part of JSON Schema 2020-12 that the published schemas are written in. */

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: JsonType | readonly JsonType[];
  /** Scalars only. */
  readonly const?: unknown;
  /** Scalars only. */
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
}

/** A whole file of `schemas/`. */
export interface SchemaDocument extends JsonSchema {
  readonly $schema?: string;
  readonly $id?: string;
  readonly title?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$defs',
  '$comment',
  'title',
  'description',
  'examples',
]);

/** Whether a keyword only explains, so that a validator may pass over it. */
export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword);
}

/**
 * Finds what `#`, `#/$defs/NAME`, `FILE` or `FILE#/$defs/NAME` stands for.
 * @throws {TypeError} when there is no such schema
 */
export function resolveReference(
  reference: string,
  root: SchemaDocument,
  others: Readonly<Record<string, SchemaDocument>>,
): { readonly schema: JsonSchema; readonly root: SchemaDocument } {
  const hash = reference.indexOf('#');
  const file = hash < 0 ? reference : reference.slice(0, hash);
  const pointer = hash < 0 ? '' : reference.slice(hash + 1);
  const document = file === '' ? root : others[file];
  const name = /^\/\$defs\/([^/]+)$/.exec(pointer)?.[1];
  const schema = pointer === '' ? document : name === undefined ? undefined : document?.$defs?.[name];
  if (document === undefined || schema === undefined) {
    throw new TypeError(`Cannot compile schema: reference ${reference} leads nowhere`);
  }
  return { schema, root: document };
}
