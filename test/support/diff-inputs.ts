/** Snapshots in memory as inputs of a comparison. */
import type { DiffInput } from '../../src/lib/diff/diff-input.ts';
import { openSnapshot } from '../../src/lib/snapshot/snapshot-reader.ts';
import { type SnapshotParts, snapshotText } from './snapshot-lines.ts';

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

/** Each reading sees the next of the given states, the last one again and again. */
export function inputOf(label: string, ...states: readonly SnapshotParts[]): DiffInput {
  let turn = 0;
  return {
    label,
    live: states.length > 1,
    async open() {
      const text = snapshotText(states[Math.min(turn++, states.length - 1)] ?? {});
      return openSnapshot(label, () => pieces(text));
    },
  };
}
