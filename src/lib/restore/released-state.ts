/** What is still remembered once the placeholders of a restore are over. */
import type { StateCheckpoint } from '../state/checkpoint.ts';

/**
 * @param freed numbers that nothing has any more: only now may they mean something else
 * @param deleted prefixes whose entry is gone
 */
export function releasedState(
  state: StateCheckpoint,
  {
    freed,
    deleted,
    time,
  }: { readonly freed: ReadonlySet<number>; readonly deleted: ReadonlySet<string>; readonly time: string },
): StateCheckpoint {
  return {
    ...state,
    time,
    ...(state.restored !== undefined && { restored: { ...state.restored, released: time } }),
    placeholders: [],
    identities: state.identities
      .filter(({ identity }) => !freed.has(identity))
      .map((identity) => ({ ...identity, prefixes: identity.prefixes.filter((prefix) => !deleted.has(prefix)) })),
  };
}
