/** Runs a walk to its end and keeps what it emitted. */
import type { BpfMap } from '../../src/lib/bpf/map.ts';
import { type WalkOptions, type WalkResult, walkMap } from '../../src/lib/bpf/walk.ts';

export interface Drained {
  readonly keys: Uint8Array[];
  readonly values: Uint8Array[];
  /** `key value` in hex. */
  readonly lines: string[];
  readonly batches: number;
  readonly result: WalkResult;
}

export async function drain(map: BpfMap, options?: WalkOptions): Promise<Drained> {
  const { keyBytes, valueBytes } = map.info;
  const keys: Uint8Array[] = [];
  const values: Uint8Array[] = [];
  const lines: string[] = [];
  const walk = walkMap(map, options);
  for (let batches = 0; ; batches++) {
    const step = await walk.next();
    if (step.done === true) return { keys, values, lines, batches, result: step.value };
    const batch = step.value;
    for (let i = batch.firstNew; i < batch.count; i++) {
      const key = batch.keys.slice(i * keyBytes, (i + 1) * keyBytes);
      const value = batch.values.slice(i * valueBytes, (i + 1) * valueBytes);
      keys.push(key);
      values.push(value);
      lines.push(`${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`);
    }
  }
}
