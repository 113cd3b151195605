/** Where the value of a flag comes from: the flag, its variable, the config file, the default; in this order. */
import { ToolError, UsageError } from '../errors.ts';
import type { ConfigValue } from './config-file.ts';

export type ValueSource =
  | { readonly from: 'flag' }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'config'; readonly file: string; readonly line: number }
  | { readonly from: 'default' };

/** A value that was not on the command line, as text, and how to name its place in a message. */
export interface LayeredValue {
  readonly texts: readonly string[];
  readonly source: ValueSource;
  readonly place: string;
  /** It holds for all commands that have the flag. */
  readonly common: boolean;
}

interface FlagFacts {
  readonly name: string;
  readonly env?: string | undefined;
  readonly multiple: boolean;
}

/** The values of a flag that was not given on the command line, the one that wins first; none: the default holds. */
export function* layeredValues(
  flag: FlagFacts,
  env: Readonly<Record<string, string | undefined>>,
  config: ReadonlyMap<string, ConfigValue>,
): Generator<LayeredValue> {
  const variable = flag.env;
  const text = variable ? env[variable] : undefined;
  if (variable && text !== undefined && text !== '') {
    yield { texts: [text], source: { from: 'environment', variable }, place: variable, common: true };
  }
  const entry = config.get(flag.name);
  if (entry === undefined || entry.value === null) return;
  const { file, line, common } = entry;
  const place = `${flag.name} in ${file}, line ${line}`;
  yield { texts: configTexts(entry, flag, place), source: { from: 'config', file, line }, place, common };
}

function configTexts({ value, file, line }: ConfigValue, flag: FlagFacts, place: string): string[] {
  const values = flag.multiple && Array.isArray(value) ? value : [value];
  return values.map((one) => {
    if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean') return String(one);
    throw new UsageError(`Cannot use ${place}: not ${flag.multiple ? 'a list of texts' : 'a single value'}`, {
      code: 'CONFIG_VALUE',
      operands: { file, line, field: flag.name },
    });
  });
}

/** Yes or no from a variable or the config file. @returns undefined for any other text */
export function parseBoolean(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(lower)) return true;
  if (['0', 'false', 'no', 'off'].includes(lower)) return false;
  return undefined;
}

/** The usage error for a value that its flag does not take; keeps code, hint and operands of the reason. */
export function badValue(place: string, text: string, reason: unknown): UsageError {
  const tool = reason instanceof ToolError ? reason : undefined;
  const state = tool === undefined ? plainText(reason) : stateOf(tool.message);
  return new UsageError(`Cannot use ${place}=${text}: ${state}`, {
    code: tool?.code ?? 'BAD_VALUE',
    cause: reason,
    ...(tool?.hint !== undefined && { hint: tool.hint }),
    operands: { ...tool?.operands, field: place },
  });
}

function plainText(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/** The second half of *Cannot <action> <operand>: <state>*; a quoted operand may hold colons. */
function stateOf(message: string): string {
  const afterQuote = message.indexOf('": ');
  return afterQuote < 0 ? message.slice(message.indexOf(': ') + 2) : message.slice(afterQuote + 3);
}
