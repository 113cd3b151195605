/** Runs the operations of golden topic 14 on any map: the fake ones and the kernel's own. */
import { expect } from 'vitest';
import { errnoOf } from '../../src/lib/bpf/bpf-error.ts';
import type { BpfMap } from '../../src/lib/bpf/map.ts';

export interface MapOperation {
  readonly op: 'dump' | 'lookup' | 'update' | 'delete';
  readonly keyHex?: string;
  readonly valueHex?: string;
}

export interface MapResult {
  readonly error: string | null;
  readonly valueHex?: string;
  readonly entriesInKernelOrder?: readonly { readonly keyHex: string; readonly valueHex: string }[];
}

export function checkMapOperations(map: BpfMap, ops: readonly MapOperation[], results: readonly MapResult[]): void {
  expect(ops.length).toBe(results.length);
  ops.forEach((op, i) => {
    const wanted = results[i];
    const comparable = wanted?.entriesInKernelOrder?.map(({ keyHex, valueHex }) => ({ keyHex, valueHex }));
    expect(apply(map, op), `operation ${i}`).toEqual({
      ...wanted,
      ...(comparable === undefined ? {} : { entriesInKernelOrder: comparable }),
    });
  });
}

/** An error's text beside its class is Go's own: only the class is compared. */
function apply(map: BpfMap, { op, keyHex = '', valueHex = '' }: MapOperation): MapResult {
  const key = Buffer.from(keyHex, 'hex');
  const value = Buffer.alloc(map.info.valueBytes);
  try {
    switch (op) {
      case 'dump':
        return { entriesInKernelOrder: list(map), error: null };
      case 'lookup':
        return map.lookup(key, value) ? { error: null, valueHex: value.toString('hex') } : { error: 'ENOENT' };
      case 'update':
        map.update(key, Buffer.from(valueHex, 'hex'));
        return { error: null };
      case 'delete':
        return { error: map.delete(key) ? null : 'ENOENT' };
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return { error: errno };
  }
}

/** The entries in the order of next-key. */
export function list(map: BpfMap): { keyHex: string; valueHex: string }[] {
  const entries: { keyHex: string; valueHex: string }[] = [];
  const value = Buffer.alloc(map.info.valueBytes);
  let [key, next] = [Buffer.alloc(map.info.keyBytes), Buffer.alloc(map.info.keyBytes)];
  for (let more = map.nextKey(undefined, key); more; more = map.nextKey(key, next), [key, next] = [next, key]) {
    map.lookup(key, value);
    entries.push({ keyHex: key.toString('hex'), valueHex: value.toString('hex') });
  }
  return entries;
}
