import { renameSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { MapWriter } from '../../../src/lib/datapath/map-writer.ts';
import { PinGuard } from '../../../src/lib/datapath/pin-guard.ts';
import { RefusedError } from '../../../src/lib/errors.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { entryBytes, pinnedIpcache } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
let directory: PinDirectory;
let pin: string;
let descriptors: number;

beforeEach(() => {
  descriptors = bpfDescriptors();
  directory = pinDirectory('pin-guard');
  pin = `${directory.path}/map`;
});
afterEach(() => {
  directory[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(descriptors);
});

/** A writer on the pin, with everything it was ever told, to be told again. */
function follow(refusal?: Error) {
  pinnedIpcache(kernel, pin, [])[Symbol.dispose]();
  const first = openPin(pin, { kernel, write: true });
  const told = new Map<string, number>();
  const failures: unknown[] = [];
  let timer: (() => void) | undefined;
  const upsert = (prefix: string, identity: number): void => {
    told.set(prefix, identity);
    const { key, value } = entryBytes('v2', { prefix, identity });
    writer.upsert(key, value);
  };
  const guard: PinGuard = new PinGuard({
    kernel,
    pin,
    map: first,
    refusal: async () => refusal,
    onReplaced: (map) => {
      writer.useMap(map);
      for (const [prefix, identity] of [...told]) upsert(prefix, identity);
    },
  });
  const writer: MapWriter = new MapWriter({
    map: first,
    layout: layoutNamed('v2'),
    timers: {
      setTimeout: (run) => {
        timer = run;
        return run;
      },
      clearTimeout: () => {
        timer = undefined;
      },
    },
    random: () => 0,
    beforeWrite: () => guard.check(),
    onFailure: (error) => failures.push(error),
  });
  return {
    writer,
    guard,
    upsert,
    failures,
    fire: () => timer?.(),
    [Symbol.dispose]: () => writer.map[Symbol.dispose](),
  };
}

function identityIn(map: BpfMap, prefix: string): number | undefined {
  const { key } = entryBytes('v2', { prefix, identity: 0 });
  const value = new Uint8Array(24);
  return map.lookup(key, value) ? new DataView(value.buffer).getUint32(0, true) : undefined;
}

/** Puts another map in the place of the pin, as an agent that restarts does. */
function replace(valueBytes = 24): BpfMap {
  const next = realTrie(kernel, { valueBytes });
  pinMap(next, `${pin}_pending`);
  renameSync(`${pin}_pending`, pin);
  return next;
}

describe('PinGuard', () => {
  it('op 46: another map at the pin gets everything, the old one nothing any more', async () => {
    using followed = follow();
    const { writer, upsert, guard } = followed;
    using old = openPin(pin, { kernel });
    upsert('10.0.0.1/32', 1001);
    await writer.flush();
    using next = replace();
    upsert('10.0.0.2/32', 1002);
    await writer.flush();
    expect([identityIn(next, '10.0.0.1/32'), identityIn(next, '10.0.0.2/32')]).toEqual([1001, 1002]);
    expect(identityIn(old, '10.0.0.2/32')).toBeUndefined();
    expect(guard.replacements).toBe(1);
    expect(writer.map.info.id).toBe(next.info.id);
  });

  it('op 46: it is noticed without a change, too', async () => {
    using followed = follow();
    followed.upsert('10.0.0.1/32', 1001);
    await followed.writer.flush();
    using next = replace();
    followed.writer.poke();
    await followed.writer.flush();
    expect(identityIn(next, '10.0.0.1/32')).toBe(1001);
  });

  it('op 46: with another writer on the new map nothing is written to it, and the writer ends', async () => {
    const refusal = new RefusedError('Cannot feed the map: process 7 (cilium-agent) holds it read-write');
    using followed = follow(refusal);
    followed.upsert('10.0.0.1/32', 1001);
    await followed.writer.flush();
    using next = replace();
    followed.upsert('10.0.0.2/32', 1002);
    await expect(followed.writer.flush()).rejects.toBe(refusal);
    expect(followed.failures).toEqual([refusal]);
    expect(identityIn(next, '10.0.0.2/32')).toBeUndefined();
  });

  it('a map of other values is refused', async () => {
    using followed = follow();
    using _next = replace(12);
    followed.upsert('10.0.0.1/32', 1001);
    await expect(followed.writer.flush()).rejects.toMatchObject({ code: 'PIN_OF_OTHER_SHAPE', exitCode: 13 });
  });

  it('without a pin nothing is written until there is one again; the same map once more is no replacement', async () => {
    using followed = follow();
    const { writer, upsert, guard } = followed;
    using map = openPin(pin, { kernel });
    rmSync(pin);
    upsert('10.0.0.1/32', 1001);
    await writer.flush();
    expect({ stored: identityIn(map, '10.0.0.1/32'), pending: writer.pending }).toEqual({
      stored: undefined,
      pending: 1,
    });
    pinMap(map, pin);
    followed.fire();
    await writer.flush();
    expect({ stored: identityIn(map, '10.0.0.1/32'), pending: writer.pending }).toEqual({ stored: 1001, pending: 0 });
    expect(guard.replacements).toBe(0);
  });
});
