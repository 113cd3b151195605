/**
 * Upserts and deletes in the form in which nearly all of them come, read from bytes: several times as fast as by way of
 * JSON. What is not plain, and what is not valid, is left to `parseEventLine`, which has the last word on both.
 */
import { parseCacheKey } from '../cache/cache-key.ts';
import type { PodMetadata } from '../cache/listener.ts';
import { isSourceName } from '../cache/source-rank.ts';
import { UsageError } from '../errors.ts';
import { MAX_IDENTITY } from '../identity/numeric-identity.ts';
import { ByteTexts } from './byte-texts.ts';
import { canonicalHost } from './host-pool.ts';
import { ABSENT, PlainFields, type PlainText } from './plain-fields.ts';
import type { SourceEvent } from './source.ts';

const U = 117;
const D = 100;
const AT = 64;
const LONGEST_KEY = 64;
const MAX_ENCRYPT_KEY = 0xff;

export class PlainEvents {
  readonly #source: string;
  readonly #fields = new PlainFields();
  readonly #pool = new ByteTexts();

  /** @param source the Cilium source of events that name none */
  constructor(source: string) {
    this.#source = source;
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
    const { identity, expectIdentity, encryptKey, hostIP } = this.#fields;
    if (identity === ABSENT || identity > MAX_IDENTITY || expectIdentity !== ABSENT) return undefined;
    if (encryptKey > MAX_ENCRYPT_KEY) return undefined;
    let host: string | undefined;
    if (hostIP.from !== ABSENT && hostIP.to > hostIP.from) {
      host = canonicalHost(this.#pool.text(bytes, hostIP.from, hostIP.to));
      if (host === undefined) return undefined;
    }
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
    const source = this.#pool.text(bytes, from, to);
    return isSourceName(source) ? source : undefined;
  }

  /** Prefixes of other clusters have rules of their own. */
  #keyOf(bytes: Buffer, { from, to }: PlainText): string | undefined {
    if (from === ABSENT || to - from > LONGEST_KEY) return undefined;
    for (let i = from; i < to; i++) if (bytes[i] === AT) return undefined;
    try {
      return parseCacheKey(bytes.toString('latin1', from, to));
    } catch (error) {
      if (error instanceof UsageError) return undefined;
      throw error;
    }
  }

  #podOf(bytes: Buffer): PodMetadata | undefined {
    const { hasPod, namespace, name } = this.#fields;
    if (!hasPod) return undefined;
    return {
      namespace: namespace.from === ABSENT ? '' : this.#pool.text(bytes, namespace.from, namespace.to),
      name: name.from === ABSENT ? '' : bytes.toString('latin1', name.from, name.to),
    };
  }
}

function isText(bytes: Buffer, { from, to }: PlainText, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}
