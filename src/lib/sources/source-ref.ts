/** How a source is named in flags and the config file: one grammar for everything that reads a desired state. */
import { isSourceName, SOURCES, type SourceName } from '../cache/source-rank.ts';
import { UsageError } from '../errors.ts';

export type SourceTarget =
  /** `-` is standard input. */
  | { readonly kind: 'ndjson'; readonly path: string }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'etcd'; readonly file: string }
  | { readonly kind: 'etcd'; readonly urls: readonly string[] }
  | { readonly kind: 'k8s'; readonly kubeconfig: string | undefined }
  | { readonly kind: 'agent'; readonly socket: string | undefined }
  | { readonly kind: 'listen'; readonly socket: string | undefined }
  | { readonly kind: 'snapshot'; readonly path: string };

export interface SourceRef {
  readonly target: SourceTarget;
  /** What it is called in logs, metrics and status; the reference without its options unless `name=` was given. */
  readonly name: string;
  readonly rank: SourceName;
}

const GRAMMAR = [
  'ndjson:-|PATH',
  'unix:PATH',
  'etcd:FILE|URL[,URL]',
  'k8s[:KUBECONFIG]',
  'agent[:SOCKET]',
  'listen[:SOCKET]',
  'snapshot:PATH',
];

const DEFAULT_RANKS: Readonly<Record<SourceTarget['kind'], SourceName>> = {
  ndjson: 'api',
  unix: 'api',
  etcd: 'kvstore',
  k8s: 'custom-resource',
  agent: 'api',
  listen: 'api',
  snapshot: 'restored',
};

/** Reads exactly one reference. @throws {UsageError} BAD_SOURCE, listing the grammar */
export function parseSourceRef(text: string): SourceRef {
  const [ref, ...others] = parseSourceRefs(text);
  if (ref === undefined || others.length > 0) throw bad(text, 'one source is wanted');
  return ref;
}

/**
 * Reads a comma list of references. A comma belongs to the reference before it when an URL follows, and to the one behind
 * it after `name=` and `rank=`.
 * @throws {UsageError} BAD_SOURCE, listing the grammar
 */
export function parseSourceRefs(text: string): SourceRef[] {
  const refs: SourceRef[] = [];
  let options = new Map<string, string>();
  const words = text.split(',');
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    const option = /^(name|rank)=(.*)$/s.exec(word);
    if (option?.[1] !== undefined) {
      if (options.has(option[1])) throw bad(text, `${option[1]}= is given twice`);
      options.set(option[1], option[2] ?? '');
      continue;
    }
    const urls: string[] = [];
    while (isUrl(words[i + 1] ?? '')) urls.push(words[++i] ?? '');
    refs.push(refOf(text, [word, ...urls].join(','), options));
    options = new Map();
  }
  if (options.size > 0) throw bad(text, 'name= and rank= stand before the source they belong to');
  return refs;
}

/** The text that parses to the reference. */
export function formatSourceRef({ target, name, rank }: SourceRef): string {
  const text = formatTarget(target);
  const named = name === text ? '' : `name=${name},`;
  return `${named}${rank === DEFAULT_RANKS[target.kind] ? '' : `rank=${rank},`}${text}`;
}

function refOf(whole: string, text: string, options: ReadonlyMap<string, string>): SourceRef {
  const target = targetOf(whole, text);
  const name = options.get('name') ?? text;
  const rank = options.get('rank') ?? DEFAULT_RANKS[target.kind];
  if (name === '') throw bad(whole, 'name= needs a name');
  if (!isSourceName(rank)) throw bad(whole, `rank ${JSON.stringify(rank)} is none of ${SOURCES.join(', ')}`);
  return { target, name, rank };
}

function targetOf(whole: string, text: string): SourceTarget {
  const colon = text.indexOf(':');
  const kind = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? undefined : text.slice(colon + 1);
  if (rest?.includes('\0')) throw bad(whole.replaceAll('\0', '\\0'), 'a path cannot have a NUL in it');
  switch (kind) {
    case 'ndjson':
    case 'unix':
    case 'snapshot':
      return { kind, path: needed(whole, kind, rest) };
    case 'etcd': {
      const places = needed(whole, kind, rest);
      return isUrl(places) ? { kind, urls: places.split(',') } : { kind, file: places };
    }
    case 'k8s':
      return { kind, kubeconfig: optional(whole, kind, rest) };
    case 'agent':
    case 'listen':
      return { kind, socket: optional(whole, kind, rest) };
    default:
      throw unknown(whole, text);
  }
}

function needed(whole: string, kind: string, rest: string | undefined): string {
  if (rest === undefined || rest === '') throw bad(whole, `${kind}: needs something behind it`);
  return rest;
}

function optional(whole: string, kind: string, rest: string | undefined): string | undefined {
  if (rest === '') throw bad(whole, `nothing follows ${kind}:`);
  return rest;
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

function formatTarget(target: SourceTarget): string {
  switch (target.kind) {
    case 'ndjson':
    case 'unix':
    case 'snapshot':
      return `${target.kind}:${target.path}`;
    case 'etcd':
      return `etcd:${'file' in target ? target.file : target.urls.join(',')}`;
    case 'k8s':
      return target.kubeconfig === undefined ? 'k8s' : `k8s:${target.kubeconfig}`;
    case 'agent':
    case 'listen':
      return target.socket === undefined ? target.kind : `${target.kind}:${target.socket}`;
  }
}

function unknown(whole: string, text: string): UsageError {
  if (text === '') return bad(whole, 'it is empty');
  if (isUrl(text)) return bad(whole, 'an URL alone is no source', `did you mean etcd:${text}?`);
  if (text === '-') return bad(whole, 'it does not say what to read', 'did you mean ndjson:-?');
  if (text.startsWith('/') || text.startsWith('.')) {
    return bad(whole, 'a path alone is no source', `did you mean snapshot:${text} or ndjson:${text}?`);
  }
  return bad(whole, `${JSON.stringify(text)} is no kind of source`);
}

function bad(text: string, state: string, suggestion?: string): UsageError {
  const grammar = `sources are ${GRAMMAR.join(', ')}; name=X and rank=Y may stand before, each with a comma`;
  return new UsageError(`Cannot use ${JSON.stringify(text)} as a source: ${state}`, {
    code: 'BAD_SOURCE',
    hint: suggestion === undefined ? grammar : `${suggestion} (${grammar})`,
    operands: { source: text },
  });
}
