/** The number after `@` in Cilium's own texts: any u32, read as Go's strconv.ParseUint reads base 10. */
import { MalformedError } from '../errors.ts';

const MAX_UINT32 = 0xffff_ffff;

/**
 * Leading zeros are fine; signs, spaces, underscores and other bases are not.
 * @throws {MalformedError} code EMPTY_CLUSTER_ID or BAD_CLUSTER_ID.
 */
export function parseClusterId(text: string): number {
  if (text === '') {
    throw new MalformedError('Cannot read cluster ID: nothing follows the @', { code: 'EMPTY_CLUSTER_ID' });
  }
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= MAX_UINT32) return value;
  throw new MalformedError(
    `Cannot read cluster ID ${JSON.stringify(text)}: it is not a number from 0 to ${MAX_UINT32}`,
    {
      code: 'BAD_CLUSTER_ID',
    },
  );
}
