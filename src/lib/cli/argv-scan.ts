/**
 * A first look at the command line, before it is parsed: what must be known even when parsing fails (JSON errors, the
 * config file), and which flags exist nowhere. Follows oclif's rules for flags, values, clusters and `--`.
 */

/** What the scan needs to know of a flag; oclif's definitions and its manifest both have it. */
export interface FlagShape {
  readonly type: 'boolean' | 'option';
  readonly char?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly allowNo?: boolean;
}

export interface ArgvScan {
  /** Values in the order given; a boolean has `true` or `false`. */
  readonly values: ReadonlyMap<string, readonly (string | boolean)[]>;
  /** As typed, without `=value`. */
  readonly unknown: readonly string[];
  readonly positionals: readonly string[];
  /** Where the first positional stands. */
  readonly commandAt: number | undefined;
}

/** Looks at every word once. Never throws: what does not fit is left to the parser. */
export function scanArgv(argv: readonly string[], flags: Readonly<Record<string, FlagShape>>): ArgvScan {
  const values = new Map<string, (string | boolean)[]>();
  const unknown: string[] = [];
  const positionals: string[] = [];
  let commandAt: number | undefined;
  const add = (name: string, value: string | boolean): void => {
    values.set(name, [...(values.get(name) ?? []), value]);
  };
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') {
      positionals.push(...argv.slice(i + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      commandAt ??= i;
      positionals.push(word);
    } else if (word.startsWith('--')) {
      i += scanLong(word, argv[i + 1]);
    } else {
      i += scanShort(word, argv[i + 1]);
    }
  }
  return { values, unknown, positionals, commandAt };

  /** @returns how many words after this one were its value */
  function scanLong(word: string, next: string | undefined): 0 | 1 {
    const equals = word.indexOf('=');
    const given = equals < 0 ? word.slice(2) : word.slice(2, equals);
    const name = longName(given, flags);
    const flag = name === undefined ? undefined : flags[name];
    if (name === undefined || flag === undefined) {
      const positive = given.startsWith('no-') ? longName(given.slice(3), flags) : undefined;
      if (positive !== undefined && flags[positive]?.allowNo) add(positive, false);
      else unknown.push(`--${given}`);
      return 0;
    }
    if (flag.type === 'boolean') {
      add(name, true);
      return 0;
    }
    if (equals >= 0) add(name, word.slice(equals + 1));
    else if (next !== undefined) add(name, next);
    return equals < 0 ? 1 : 0;
  }

  function scanShort(word: string, next: string | undefined): 0 | 1 {
    for (let at = 1; at < word.length; at++) {
      const char = word[at];
      const name = Object.keys(flags).find((key) => flags[key]?.char === char);
      if (name === undefined) {
        // A negative number is a value, not a flag.
        if (at === 1 && /^-\d/.test(word)) positionals.push(word);
        else unknown.push(`-${char}`);
        return 0;
      }
      if (flags[name]?.type === 'boolean') {
        add(name, true);
        continue;
      }
      const rest = word.slice(at + 1);
      if (rest !== '') add(name, rest.startsWith('=') ? rest.slice(1) : rest);
      else if (next !== undefined) add(name, next);
      return rest === '' ? 1 : 0;
    }
    return 0;
  }
}

function longName(given: string, flags: Readonly<Record<string, FlagShape>>): string | undefined {
  if (Object.hasOwn(flags, given)) return given;
  return Object.keys(flags).find((name) => flags[name]?.aliases?.includes(given));
}
