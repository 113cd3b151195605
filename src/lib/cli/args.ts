/** Arguments whose text becomes a value of the domain; a bad one is a usage error. */
import * as Args from '@oclif/core/args';
import { type Prefix, parsePrefix } from '../net/prefix.ts';

/** A prefix, canonical. */
export const prefixArg = Args.custom<Prefix>({ parse: async (text) => parsePrefix(text) });
