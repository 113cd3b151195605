/**
 * The config file: flags by their names, for every command at the top level, for one command below the command's name.
 *
 *     map: /sys/fs/bpf/tc/globals/cilium_ipcache_v2
 *     dump:
 *       sort: prefix
 */
import { readFileSync } from 'node:fs';
import type * as Yaml from 'yaml';
import { MalformedError, NotPermittedError, UsageError } from '../errors.ts';
import { nearestName, suggestion } from './nearest.ts';

/** One value as written, and where. */
export interface ConfigValue {
  readonly value: unknown;
  readonly file: string;
  readonly line: number;
  /** It stands at the top level, for all commands. */
  readonly common: boolean;
}

/** Which flags may stand in the file, per command. */
export type ConfigurableFlags = ReadonlyMap<string, ReadonlySet<string>>;

export interface ConfigQuery {
  readonly file: string;
  /** False: a missing file is the same as an empty one. */
  readonly mustExist: boolean;
  readonly command: string;
  readonly known: () => ConfigurableFlags;
  /** What was read before; files that are read now are added. */
  readonly parsed?: Map<string, ParsedConfig | undefined>;
}

/** A config file as it was written, before it is known whether its keys exist. */
export interface ParsedConfig {
  readonly keys: readonly ParsedKey[];
}

interface ParsedKey extends Omit<ConfigValue, 'common'> {
  readonly name: string;
  /** The keys below it, where its value is a mapping. */
  readonly section?: readonly ParsedKey[];
}

/**
 * Reads the values for one command; its own section wins over the common part. The whole file is checked.
 * @throws {UsageError} unknown key (with line and nearest name), or a file that was asked for and is not there
 * @throws {MalformedError} not YAML
 * @throws {NotPermittedError} not readable
 */
export function readConfig(query: ConfigQuery): ReadonlyMap<string, ConfigValue> {
  const values = new Map<string, ConfigValue>();
  const parsed = parsedFile(query);
  if (parsed === undefined) return values;
  const known = query.known();
  const common = new Set([...known.values()].flatMap((names) => [...names]));
  const own: ParsedKey[] = [];
  for (const key of parsed.keys) {
    const names = known.get(key.name);
    if (names !== undefined && key.section === undefined && !common.has(key.name)) {
      // "dump:" with nothing below it is what is left when its lines are commented out.
      if (key.value === null) continue;
      throw noSection(query.file, key);
    }
    if (names === undefined || key.section === undefined) {
      if (!common.has(key.name)) throw unknownKey(query.file, key.line, key.name, [...common, ...known.keys()]);
      values.set(key.name, { ...key, common: true });
      continue;
    }
    for (const inner of key.section) {
      if (!names.has(inner.name)) throw unknownKey(query.file, inner.line, `${key.name}.${inner.name}`, names);
      if (key.name === query.command) own.push(inner);
    }
  }
  for (const key of own) values.set(key.name, { ...key, common: false });
  return values;
}

function parsedFile(query: ConfigQuery): ParsedConfig | undefined {
  const { file, parsed, mustExist } = query;
  const before = parsed?.get(file);
  if (before !== undefined || (parsed?.has(file) && !mustExist)) return before;
  const text = readText(query);
  const config = text === undefined || text.trim() === '' ? undefined : parseConfig(file, text);
  parsed?.set(file, config);
  return config;
}

function parseConfig(file: string, text: string): ParsedConfig | undefined {
  const yaml = require('yaml') as typeof Yaml;
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw malformed(file, lines.linePos(problem.pos[0]).line, firstLine(problem.message));
  const lineOf = (node: unknown): number => (yaml.isNode(node) && node.range ? lines.linePos(node.range[0]).line : 1);
  const readValue = (node: unknown): unknown => {
    try {
      return yaml.isNode(node) ? node.toJS(document) : null;
    } catch (error) {
      // Aliases are followed only now: to nothing, or to far too much.
      throw malformed(file, lineOf(node), error instanceof Error ? firstLine(error.message) : String(error));
    }
  };
  const keysOf = (map: Yaml.YAMLMap): ParsedKey[] =>
    map.items.map(({ key, value: node }) => ({
      name: String(yaml.isScalar(key) ? key.value : key),
      value: readValue(node),
      file,
      line: lineOf(key),
      ...(yaml.isMap(node) && { section: keysOf(node) }),
    }));
  const root = document.contents;
  if (root === null || (yaml.isScalar(root) && root.value === null)) return undefined;
  if (!yaml.isMap(root)) throw malformed(file, lineOf(root), 'not a list of "name: value" lines');
  return { keys: keysOf(root) };
}

function readText({ file, mustExist }: ConfigQuery): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? 'EIO';
    if ((errno === 'ENOENT' || errno === 'ENOTDIR') && !mustExist) return undefined;
    const options = { cause, operands: { path: file, errno } };
    if (errno === 'EACCES' || errno === 'EPERM') {
      const hint = 'make it readable, or name another file with --config';
      throw new NotPermittedError(`Cannot read config file ${file}: permission denied`, { ...options, hint });
    }
    const state = errno === 'ENOENT' || errno === 'ENOTDIR' ? 'no such file' : errno;
    throw new UsageError(`Cannot read config file ${file}: ${state}`, {
      ...options,
      code: 'CONFIG',
      hint: 'check --config and IPC_CONFIG',
    });
  }
}

function unknownKey(file: string, line: number, key: string, known: Iterable<string>): UsageError {
  const [name = key] = key.split('.').slice(-1);
  return new UsageError(`Cannot use ${key} in ${file}, line ${line}: no such key`, {
    code: 'CONFIG_KEY',
    hint: suggestion(nearestName(name, known), 'keys are the names of flags, without dashes in front'),
    operands: { file, line, field: key },
  });
}

function noSection(file: string, { name, line }: ParsedKey): UsageError {
  return new UsageError(`Cannot use ${name} in ${file}, line ${line}: it is a command, and no flags stand below it`, {
    code: 'CONFIG_VALUE',
    hint: 'write its flags below it, indented, one "name: value" a line',
    operands: { file, line, field: name },
  });
}

function malformed(file: string, line: number, state: string): MalformedError {
  return new MalformedError(`Cannot read config file ${file}, line ${line}: ${state}`, {
    code: 'CONFIG_SYNTAX',
    hint: 'the file is YAML: one "name: value" a line',
    operands: { file, line },
  });
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '');
}
