import * as Flags from '@oclif/core/flags';
import { CHANGE_CLASSES, type ChangeClass } from '../diff/change-class.ts';
import type { ChangeFilter } from '../diff/change-filter.ts';
import { UsageError } from '../errors.ts';
import { parsePrefix } from '../net/prefix.ts';
import { readIdentity } from './flags.ts';

/** What `ipc diff` is not to look at: one word of `--ignore`. */
export type Ignored = Pick<ChangeFilter, 'ignoreClasses' | 'ignoreWithin' | 'ignoreIdentities'>;

/** A class, a prefix with all inside of it, or an identity by number or name. */
export const ignoreFlag = Flags.custom<Ignored>({ parse: async (text) => readIgnored(text), helpValue: 'WHAT' });

/** All words of the flag together. */
export function mergeIgnored(words: readonly Ignored[]): Ignored {
  return {
    ignoreClasses: words.flatMap(({ ignoreClasses }) => ignoreClasses),
    ignoreWithin: words.flatMap(({ ignoreWithin }) => ignoreWithin),
    ignoreIdentities: words.flatMap(({ ignoreIdentities }) => ignoreIdentities),
  };
}

function readIgnored(text: string): Ignored {
  const none: Ignored = { ignoreClasses: [], ignoreWithin: [], ignoreIdentities: [] };
  const name = CHANGE_CLASSES.find((candidate) => candidate === text) as ChangeClass | undefined;
  if (name !== undefined) return { ...none, ignoreClasses: [name] };
  if (/[.:/]/.test(text) && !text.startsWith('reserved:')) return { ...none, ignoreWithin: [parsePrefix(text)] };
  try {
    return { ...none, ignoreIdentities: [readIdentity(text)] };
  } catch {
    throw new UsageError(`Cannot ignore ${JSON.stringify(text)}: neither a class, nor a prefix, nor an identity`, {
      code: 'BAD_IGNORE',
      hint: `classes are ${CHANGE_CLASSES.join(', ')}`,
    });
  }
}
