import { emptyCheckpoint, type StateCheckpoint } from '../../src/lib/state/checkpoint.ts';

/** A checkpoint whose every record says which generation it is of; some pieces long when it is written. */
export function stateGeneration(pin: string, number: number): StateCheckpoint {
  const identities = Array.from({ length: 1500 }, (_, i) => ({
    identity: 16777217 + i,
    labels: [`cidr:10.${number}.${i >> 8}.${i & 255}/32`],
    prefixes: [`10.${number}.${i >> 8}.${i & 255}/32`],
  }));
  return { ...emptyCheckpoint(pin, new Date(number * 1000).toISOString(), 'boot'), identities };
}

/** The generation that all records of a checkpoint agree on; undefined when they do not. */
export function generationOf({ time, identities }: StateCheckpoint): number | undefined {
  const number = Date.parse(time) / 1000;
  const same = identities.every(({ prefixes }) => prefixes[0]?.startsWith(`10.${number}.`));
  return same && identities.length === 1500 ? number : undefined;
}
