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
}

/** Which flags may stand in the file, per command. */
export type ConfigurableFlags = ReadonlyMap<string, ReadonlySet<string>>;

export interface ConfigQuery {
  readonly file: string;
  /** False: a missing file is the same as an empty one. */
  readonly mustExist: boolean;
  readonly command: string;
  readonly known: ConfigurableFlags;
}

/**
 * Reads the values for one command; its own section wins over the common part. The whole file is checked.
 * @throws {UsageError} unknown key (with line and nearest name), or a file that was asked for and is not there
 * @throws {MalformedError} not YAML
 * @throws {NotPermittedError} not readable
 */
export function readConfig(query: ConfigQuery): ReadonlyMap<string, ConfigValue> {
  const text = readText(query);
  const values = new Map<string, ConfigValue>();
  if (text === undefined || text.trim() === '') return values;
  const yaml = require('yaml') as typeof Yaml;
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined)
    throw malformed(query.file, lines.linePos(problem.pos[0]).line, firstLine(problem.message));
  const lineOf = (node: unknown): number => (yaml.isNode(node) && node.range ? lines.linePos(node.range[0]).line : 1);
  const root = document.contents;
  if (root === null || (yaml.isScalar(root) && root.value === null)) return values;
  if (!yaml.isMap(root)) throw malformed(query.file, lineOf(root), 'not a list of "name: value" lines');

  const common = new Set([...query.known.values()].flatMap((names) => [...names]));
  const own: [string, ConfigValue][] = [];
  for (const { key, value: node } of root.items) {
    const name = String(yaml.isScalar(key) ? key.value : key);
    const section = query.known.get(name);
    if (section === undefined || !yaml.isMap(node)) {
      if (!common.has(name)) throw unknownKey(query.file, lineOf(key), name, [...common, ...query.known.keys()]);
      values.set(name, configValue(node, query.file, lineOf(key)));
      continue;
    }
    for (const { key: innerKey, value: innerNode } of node.items) {
      const innerName = String(yaml.isScalar(innerKey) ? innerKey.value : innerKey);
      if (!section.has(innerName)) throw unknownKey(query.file, lineOf(innerKey), `${name}.${innerName}`, section);
      if (name === query.command) own.push([innerName, configValue(innerNode, query.file, lineOf(innerKey))]);
    }
  }
  for (const [name, value] of own) values.set(name, value);
  return values;

  function configValue(node: unknown, file: string, line: number): ConfigValue {
    return { value: yaml.isNode(node) ? node.toJS(document) : null, file, line };
  }
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
