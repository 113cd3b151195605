/** Flags of `ipc gc`. */
import * as Flags from '@oclif/core/flags';
import { UsageError } from '../errors.ts';
import { type DeleteLimit, parseDeleteLimit } from '../gc/delete-limit.ts';
import { formatAddress, parseAddress } from '../net/address.ts';

export const limitFlag = Flags.custom<DeleteLimit>({
  parse: async (text) => parseDeleteLimit(text),
  helpValue: 'P%|N',
});

/** The address of a node, in canonical text. */
export const nodeAddressFlag = Flags.custom<string>({ parse: async (text) => readAddress(text), helpValue: 'ADDR' });

/** Entries a second, at least one. */
export const rateFlag = Flags.custom<number>({ parse: async (text) => readRate(text), helpValue: 'N' });

function readAddress(text: string): string {
  const address = parseAddress(text);
  if (address?.some((byte) => byte !== 0)) return formatAddress(address);
  throw new UsageError(`Cannot read node address ${JSON.stringify(text)}: not the address of a node`, {
    code: 'BAD_ADDRESS',
  });
}

function readRate(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`Cannot read rate ${JSON.stringify(text)}: not a whole number above 0`, { code: 'BAD_NUMBER' });
}
