/** Arguments whose text becomes a value of the domain; a bad one is a usage error. */
import * as Args from '@oclif/core/args';
import { UsageError } from '../errors.ts';
import { type Prefix, parsePrefix } from '../net/prefix.ts';

/** A prefix, canonical. */
export const prefixArg = Args.custom<Prefix>({ parse: async (text) => parsePrefix(text) });

/** The name of a file. */
export const fileArg = Args.custom<string>({ parse: async (text) => readFileName(text) });

function readFileName(text: string): string {
  if (text !== '') return text;
  throw new UsageError('Cannot use "" as a file: its name is empty', {
    code: 'EMPTY_VALUE',
    hint: 'name a file; - stands for standard input or output',
  });
}
