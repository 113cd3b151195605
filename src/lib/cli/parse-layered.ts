/** Gives every flag that is not on the command line its value from the environment or the config file. */
import type { Command } from '@oclif/core/command';
import type { FlagInput } from '@oclif/core/interfaces';
import type { ArgvScan } from './argv-scan.ts';
import { type ConfigurableFlags, type ConfigValue, type ParsedConfig, readConfig } from './config-file.ts';
import { badValue, type LayeredValue, layeredValues, parseBoolean, type ValueSource } from './layered-values.ts';
import type { Runtime } from './runtime.ts';

type Flag = FlagInput[string];

export interface LayeredQuery {
  readonly command: Command;
  readonly definitions: FlagInput;
  readonly scan: ArgvScan;
  readonly runtime: Pick<Runtime, 'env' | 'systemConfig'>;
  readonly configFiles: Map<string, ParsedConfig | undefined>;
}

export interface Layered {
  /** The definitions with the values found as defaults, for oclif's parser. */
  readonly definitions: FlagInput;
  readonly sources: ReadonlyMap<string, ValueSource>;
}

/** @throws {UsageError} a variable or a line of the config file has a value that its flag does not take */
export async function parseLayered(query: LayeredQuery): Promise<Layered> {
  const config = configOf(query);
  const sources = new Map<string, ValueSource>();
  const definitions: FlagInput = {};
  for (const [name, flag] of Object.entries(query.definitions)) {
    const { env, ...bare } = flag;
    definitions[name] = bare as Flag;
    if (query.scan.values.has(name)) {
      sources.set(name, { from: 'flag' });
      continue;
    }
    const multiple = flag.type === 'option' && flag.multiple === true;
    const candidates = layeredValues({ name, env, multiple }, query.runtime.env, config);
    const layered = firstOfOwn(candidates, { ...flag, name }, query.command);
    sources.set(name, layered?.source ?? { from: 'default' });
    if (layered === undefined) continue;
    const value = await parseValue(query.command, { ...flag, name }, layered);
    definitions[name] = { ...bare, default: async () => value } as Flag;
  }
  return { definitions, sources };
}

/** A value for all commands says nothing to one whose flag has no such word, if the flag of another command has it. */
function firstOfOwn(candidates: Iterable<LayeredValue>, flag: Flag, command: Command): LayeredValue | undefined {
  for (const candidate of candidates) if (!isOfOthers(candidate, flag, command)) return candidate;
  return undefined;
}

function isOfOthers({ texts, common }: LayeredValue, flag: Flag, command: Command): boolean {
  if (!common || flag.type !== 'option' || flag.multiple || flag.options === undefined) return false;
  const [word = ''] = texts;
  if (flag.options.includes(word)) return false;
  return command.config.commands.some(({ flags }) => {
    const other = flags[flag.name];
    return other?.type === 'option' && other.options?.includes(word) === true;
  });
}

async function parseValue(command: Command, flag: Flag, { texts, place }: LayeredValue): Promise<unknown> {
  const parseOne = async (text: string): Promise<unknown> => {
    try {
      return flag.type === 'boolean' ? booleanOf(text) : await parseOption(command, flag, text);
    } catch (reason) {
      throw badValue(place, text, reason);
    }
  };
  if (flag.type !== 'option' || !flag.multiple) return parseOne(texts[0] ?? '');
  const parts = flag.delimiter === undefined ? texts : texts.flatMap((text) => text.split(flag.delimiter ?? ','));
  return Promise.all(parts.map((part) => parseOne(part.trim())));
}

function booleanOf(text: string): boolean {
  const value = parseBoolean(text);
  if (value === undefined) throw new Error('neither true nor false');
  return value;
}

async function parseOption(command: Command, flag: Flag & { type: 'option' }, text: string): Promise<unknown> {
  if (flag.options !== undefined && !flag.options.includes(text))
    throw new Error(`not one of ${flag.options.join(', ')}`);
  const token = { flag: flag.name, input: text, type: 'flag' as const };
  return flag.parse(text, Object.assign(Object.create(command) as Command, { token }), flag);
}

function configOf({ command, scan, runtime, configFiles }: LayeredQuery): ReadonlyMap<string, ConfigValue> {
  const named = scan.values.get('config')?.at(-1) ?? (runtime.env.IPC_CONFIG || undefined);
  const file = typeof named === 'string' ? named : runtime.systemConfig;
  return readConfig({
    file,
    mustExist: named !== undefined,
    command: command.id ?? '',
    known: () => configurable(command),
    parsed: configFiles,
  });
}

/** A flag may stand in the config file when it has a variable, or has none only because it can be repeated. */
function configurable(command: Command): ConfigurableFlags {
  const known = new Map<string, ReadonlySet<string>>();
  const add = (id: string, flags: Readonly<Record<string, object>>): void => {
    const names = Object.entries(flags).filter(([name, flag]) => {
      const { env, multiple } = flag as { env?: string; multiple?: boolean };
      return name !== 'config' && (Boolean(env) || multiple === true);
    });
    known.set(id, new Set(names.map(([name]) => name)));
  };
  for (const other of command.config.commands) add(other.id, other.flags);
  const own = command.constructor as typeof Command;
  add(command.id ?? '', { ...own.flags, ...own.baseFlags });
  return known;
}
