/**
 * Upserts and deletes in the form in which nearly all of them come, read from bytes: several times as fast as by way of
 * JSON. What is not plain, and what is not valid, is left to `parseEventLine`, which has the last word on both.
 */
import { parseCacheKey } from '../cache/cache-key.ts';
import type { PodMetadata } from '../cache/listener.ts';
import { UsageError } from '../errors.ts';
import { MAX_IDENTITY } from '../identity/numeric-identity.ts';
import { asciiText } from './byte-texts.ts';
import { isPlainUpsert, LineShape } from './line-shape.ts';
import { ABSENT, PlainFields, type PlainText } from './plain-fields.ts';
import { PlainTexts } from './plain-texts.ts';
import { PlainUpsert } from './plain-upsert.ts';
import type { SourceEvent } from './source.ts';

const U = 117;
const D = 100;
const AT = 64;
const LONGEST_KEY = 64;
/** A source that is made of several writes its lines in as many shapes. */
const MOST_SHAPES = 4;

export class PlainEvents {
  readonly #source: string;
  readonly #fields = new PlainFields();
  readonly #texts = new PlainTexts();
  /** The shape of the latest line first. */
  readonly #shapes: LineShape[] = [];
  /** What `readUpsert` has read. */
  readonly upsert = new PlainUpsert();

  /** @param source the Cilium source of events that name none */
  constructor(source: string) {
    this.#source = source;
  }

  /**
   * Reads an upsert into `upsert` if its line is like an earlier one.
   * @param view of the same bytes
   * @param from where the line begins; its end need not be known
   * @returns where its newline is, or -1: the line has to be read otherwise
   */
  readUpsert(bytes: Uint8Array, view: DataView, from: number): number {
    const shapes = this.#shapes;
    for (let i = 0; i < shapes.length; i++) {
      const shape = shapes[i] as LineShape;
      const end = shape.read(bytes, view, from, this.upsert);
      if (end < 0) continue;
      if (i > 0) {
        shapes.splice(i, 1);
        shapes.unshift(shape);
      }
      return end;
    }
    return -1;
  }

  /** @returns undefined for a line that has to be read as JSON */
  read(bytes: Buffer, from: number, to: number): SourceEvent | undefined {
    const fields = this.#fields;
    if (!fields.read(bytes, from, to) || fields.op.from === ABSENT) return undefined;
    const source = this.#sourceOf(bytes, fields.source);
    const key = this.#keyOf(bytes, fields.prefix);
    if (source === undefined || key === undefined) return undefined;
    const operation = bytes[fields.op.from];
    if (operation === U && isText(bytes, fields.op, 'upsert')) return this.#upsert(bytes, key, source);
    if (operation === D && isText(bytes, fields.op, 'delete')) return this.#delete(bytes, key, source);
    return undefined;
  }

  #upsert(bytes: Buffer, key: string, source: string): SourceEvent | undefined {
    const { identity, encryptKey, hostIP } = this.#fields;
    if (!isPlainUpsert(this.#fields)) return undefined;
    let host: string | undefined;
    if (hostIP.from !== ABSENT && hostIP.to > hostIP.from) {
      host = this.#texts.hosts.get(bytes, hostIP.from, hostIP.to);
      if (host === undefined) return undefined;
    }
    this.#shapes.unshift(new LineShape(bytes, this.#fields, source, this.#texts));
    if (this.#shapes.length > MOST_SHAPES) this.#shapes.pop();
    return {
      op: 'upsert',
      record: {
        key,
        identity,
        source,
        hostIP: host,
        encryptKey: encryptKey === ABSENT ? undefined : encryptKey,
        endpointFlags: undefined,
        pod: this.#podOf(bytes),
      },
    };
  }

  #delete(bytes: Buffer, key: string, source: string): SourceEvent | undefined {
    const { identity, expectIdentity, encryptKey, hostIP } = this.#fields;
    if (identity !== ABSENT || encryptKey !== ABSENT || hostIP.from !== ABSENT) return undefined;
    if (expectIdentity > MAX_IDENTITY) return undefined;
    return {
      op: 'delete',
      key,
      source,
      expectIdentity: expectIdentity === ABSENT ? undefined : expectIdentity,
      pod: this.#podOf(bytes),
    };
  }

  #sourceOf(bytes: Buffer, { from, to }: PlainText): string | undefined {
    if (from === ABSENT) return this.#source;
    return this.#texts.sources.get(bytes, from, to);
  }

  /** Prefixes of other clusters have rules of their own. */
  #keyOf(bytes: Buffer, { from, to }: PlainText): string | undefined {
    if (from === ABSENT || to - from > LONGEST_KEY) return undefined;
    for (let i = from; i < to; i++) if (bytes[i] === AT) return undefined;
    try {
      return parseCacheKey(asciiText(bytes, from, to));
    } catch (error) {
      if (error instanceof UsageError) return undefined;
      throw error;
    }
  }

  #podOf(bytes: Buffer): PodMetadata | undefined {
    const { hasPod, namespace, name } = this.#fields;
    if (!hasPod) return undefined;
    return {
      namespace: namespace.from === ABSENT ? '' : this.#texts.namespaces.get(bytes, namespace.from, namespace.to),
      name: name.from === ABSENT ? '' : asciiText(bytes, name.from, name.to),
    };
  }
}

function isText(bytes: Buffer, { from, to }: PlainText, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}
