import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findChain } from '../../../src/lib/bpf/chain.ts';
import { EPERM } from '../../../src/lib/bpf/errno.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { isStored } from '../../../src/lib/bpf/presence.ts';
import { BPF_MAP_CREATE } from '../../../src/lib/bpf/uapi.ts';
import { walkMap } from '../../../src/lib/bpf/walk.ts';
import type { Kernel } from '../../../src/lib/native/kernel.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { list } from '../../golden/map-operations.ts';
import { bundleScript } from '../../support/bundle-script.ts';
import { drain } from '../../support/drain.ts';
import { ipKey, value } from '../../support/lpm-keys.ts';
import { bpfDescriptors, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
let descriptors = 0;
beforeEach(() => {
  descriptors = bpfDescriptors();
});
afterEach(() => expect(bpfDescriptors()).toBe(descriptors));

/** As a user without CAP_BPF has it: what next-key does cannot be found out. */
const withoutMapCreate: Kernel = {
  bpf: (cmd, attr) => (cmd === BPF_MAP_CREATE ? -EPERM : kernel.bpf(cmd, attr)),
  bpfAsync: (cmd, attr) => kernel.bpfAsync(cmd, attr),
  close: (fd) => kernel.close(fd),
};

/** 10.0.0.0/32, 10.0.0.2/32 …; the value starts with the index. */
function fillEven(map: BpfMap, entries: number): void {
  const keys = new Uint8Array(24 * entries);
  const values = new Uint8Array(24 * entries);
  for (let i = 0; i < entries; i++) {
    keys.set([64, 0, 0, 0, 0, 0, 0, 1, 10, (i >> 15) & 255, (i >> 7) & 255, (2 * i) & 255], 24 * i);
    values.set(value(i), 24 * i);
  }
  expect(map.updateBatch(keys, values, entries)).toEqual({ done: entries });
}

describe('walkMap() on the real kernel', () => {
  it.each([0, 1, 300, 20_000])('lists %i entries as next-key does', async (entries) => {
    using map = realTrie(kernel, { maxEntries: 30_000 });
    if (entries > 0) fillEven(map, entries);
    for (let i = 0; i < entries / 10; i++) map.update(ipKey(`fd00:${i.toString(16)}::/${64 - (i % 9)}`), value(i));
    const { lines, result } = await drain(map);
    expect(lines).toEqual(list(map).map(({ keyHex, valueHex }) => `${keyHex} ${valueHex}`));
    expect(result).toEqual({ complete: true, entries: lines.length, restarts: 0 });
  });

  it.each([
    ['order', kernel],
    ['a second reading', withoutMapCreate],
  ])('has every stable key once, proven by %s, while others change 50 000 keys a second', async (_name, through) => {
    const stable = 30_000;
    using directory = pinDirectory('walk');
    using made = realTrie(kernel, { maxEntries: 100_000 });
    fillEven(made, stable);
    pinMap(made, `${directory.path}/map`);
    using map = openPin(`${directory.path}/map`, { kernel: through });
    using script = bundleScript('churn');
    const child = spawn(process.execPath, [script.path, `${directory.path}/map`, String(stable), '50000'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let report = '';
    child.stdout.on('data', (chunk) => {
      report += chunk;
    });
    try {
      let walks = 0;
      let foreign = 0;
      for (const until = performance.now() + 4000; performance.now() < until; walks++) {
        foreign += await checkStable(map, stable);
      }
      expect(walks).toBeGreaterThan(3);
      expect(foreign).toBeGreaterThan(walks * 1000);
    } finally {
      child.stdin.end();
      await once(child, 'close');
    }
    const [changes = 0, seconds = 1] = report.split(' ').map(Number);
    expect(changes / seconds).toBeGreaterThan(10_000);
  });
});

/** @returns how many entries of the other process were seen. */
async function checkStable(map: BpfMap, stable: number): Promise<number> {
  const seen = new Uint8Array(stable);
  const wrong: string[] = [];
  let foreign = 0;
  const walk = walkMap(map, { batchEntries: 1024 });
  for (let step = await walk.next(); ; step = await walk.next()) {
    if (step.done === true) {
      expect(wrong).toEqual([]);
      expect(step.value.complete).toBe(true);
      expect(seen.every((count) => count === 1)).toBe(true);
      return foreign;
    }
    const { keys, values, firstNew, count } = step.value;
    const keyView = new DataView(keys.buffer);
    const valueView = new DataView(values.buffer);
    for (let i = firstNew; i < count; i++) {
      const address = keyView.getUint32(24 * i + 8) - 0x0a000000;
      const number = valueView.getUint32(24 * i, true);
      if ((address & 1) === 1) {
        foreign++;
        if (number !== 0xeeeeeeee) wrong.push(`${address}: ${number}`);
        continue;
      }
      seen[address / 2] = (seen[address / 2] ?? 0) + 1;
      if (number !== address / 2) wrong.push(`${address}: ${number}`);
    }
  }
}

describe('findChain() and isStored() on the real kernel', () => {
  it('agree with what was written', async () => {
    using map = realTrie(kernel);
    for (const [text, number] of Object.entries({ '10.0.0.0/8': 1, '10.1.0.0/16': 1, '10.1.2.3/32': 2, '::/0': 3 })) {
      map.update(ipKey(text), value(number));
    }
    const { entries, settled } = await findChain(map, ipKey('10.1.2.3/32'));
    expect(settled).toBe(true);
    expect(entries.map(({ prefixlen, value: [number] }) => [prefixlen, number])).toEqual([
      [64, 2],
      [48, 1],
      [40, 1],
    ]);
    expect((await findChain(map, ipKey('fd00::1/128'))).entries.map(({ prefixlen }) => prefixlen)).toEqual([32]);
    expect(await isStored(map, ipKey('10.1.0.0/16'))).toBe(true);
    expect(await isStored(map, ipKey('10.1.0.0/17'))).toBe(false);
  });
});
