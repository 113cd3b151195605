import { UnreachableError } from '../errors.ts';

/** What a source said may be only a part of what it has to say. */
export function endMissing(name: string): UnreachableError {
  return new UnreachableError(`Cannot read source ${name}: it ended before it said that it was complete`, {
    code: 'SOURCE_NOT_SYNCED',
    hint: 'its last line must be {"op":"synced"}',
    operands: { source: name },
  });
}
