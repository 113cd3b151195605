import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMap } from '../../../src/lib/bpf/create-map.ts';
import { pinMap } from '../../../src/lib/bpf/pin.ts';
import { BPF_F_NO_PREALLOC, BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_LPM_TRIE } from '../../../src/lib/bpf/uapi.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { formatRule } from '../../../src/lib/policymap/format-rule.ts';
import type { PolicyRule } from '../../../src/lib/policymap/policy-rule.ts';
import { policyEndpoints, visitPolicyRules } from '../../../src/lib/policymap/policy-use.ts';
import { hex } from '../../support/hex.ts';

const ROOT = '/sys/fs/bpf/ipc-test-policy';
const PINS = `${ROOT}/tc/globals`;
const kernel = new LinuxKernel();
const openFds = (): number => fs.readdirSync('/proc/self/fd').length;
let fdsBefore = 0;

beforeEach(() => {
  fdsBefore = openFds();
  fs.rmSync(ROOT, { recursive: true, force: true });
  fs.mkdirSync(PINS, { recursive: true });
});
afterEach(() => {
  fs.rmSync(ROOT, { recursive: true, force: true });
  expect(openFds()).toBeLessThanOrEqual(fdsBefore);
});

function makeMap(name: string, type: number, sizes: readonly [number, number], entries: readonly [string, string][]) {
  const flags = type === BPF_MAP_TYPE_LPM_TRIE ? BPF_F_NO_PREALLOC : 0;
  const [keyBytes, valueBytes] = sizes;
  using map = createMap(kernel, { type, keyBytes, valueBytes, maxEntries: 1024, flags });
  for (const [key, value] of entries) map.update(hex(key), hex(value.padEnd(2 * valueBytes, '0')));
  pinMap(map, `${PINS}/${name}`);
}

const trie = (name: string, entries: readonly [string, string][]) =>
  makeMap(name, BPF_MAP_TYPE_LPM_TRIE, [12, 24], entries);

async function rules(
  ids?: ReadonlySet<number>,
): Promise<{ texts: string[]; maps: number; problems: readonly string[] }> {
  const found: PolicyRule[] = [];
  const { maps, problems } = await visitPolicyRules({ kernel, roots: [ROOT], ids }, (rule) => found.push(rule));
  return { texts: found.map((rule) => `${rule.identity} ${formatRule(rule)}`).sort(), maps, problems };
}

describe('visitPolicyRules()', () => {
  test('reads tries of 1.17 and later, hash maps of before, and nothing else', async () => {
    trie('cilium_policy_v3_00021', [
      ['40000000 01000001 01 06 01bb', '000000'],
      ['28000000 02000000 00 00 0000', '000001'],
    ]);
    trie('cilium_policy_v2_01234', [['30000000 01000001 00 11 0000', '0fa001']]);
    makeMap('cilium_policy_00007', BPF_MAP_TYPE_HASH, [8, 24], [['01000001 0050 06 00', '000000']]);
    makeMap('cilium_policy_00008', BPF_MAP_TYPE_HASH, [4, 8], [['01000001', '00']]);
    makeMap('cilium_call_policy_00009', BPF_MAP_TYPE_HASH, [8, 24], [['01000001 0050 06 00', '000000']]);
    const { texts, maps, problems } = await rules();
    expect(texts).toEqual([
      '16777217 endpoint 1234 ingress deny any/udp',
      '16777217 endpoint 21 egress allow 443/tcp',
      '16777217 endpoint 7 ingress allow 80/tcp',
      '2 endpoint 21 ingress deny any',
    ]);
    expect(maps).toBe(4);
    expect(problems).toEqual([
      `map ${PINS}/cilium_policy_00008 is no policy map that is known: type 1, keys of 4, values of 8 bytes`,
    ]);
  });

  test('leaves out numbers that were not asked for', async () => {
    trie('cilium_policy_v2_00001', [
      ['40000000 01000001 01 06 01bb', '000000'],
      ['40000000 02000001 01 06 01bb', '000000'],
    ]);
    expect((await rules(new Set([16777218]))).texts).toEqual(['16777218 endpoint 1 egress allow 443/tcp']);
  });

  test('a node without policy maps has no rules', async () => {
    expect(await rules()).toEqual({ texts: [], maps: 0, problems: [] });
    const none = await visitPolicyRules({ kernel, roots: [`${ROOT}/none`] }, () => expect.unreachable());
    expect(none.maps).toBe(0);
  });

  test('a hash map larger than one page of keys is read to its end', async () => {
    const entries = Array.from({ length: 1000 }, (_, i): [string, string] => [
      `${Buffer.from(Uint32Array.of(i + 1).buffer).toString('hex')} 0050 06 00`,
      '000000',
    ]);
    makeMap('cilium_policy_00002', BPF_MAP_TYPE_HASH, [8, 24], entries);
    expect((await rules()).texts).toHaveLength(1000);
  });
});

test('policyEndpoints() counts an endpoint once, however many rules it has', async () => {
  trie('cilium_policy_v2_00001', [
    ['40000000 01000001 01 06 01bb', '000000'],
    ['40000000 01000001 01 06 0050', '000000'],
  ]);
  trie('cilium_policy_v3_00001', [['40000000 01000001 01 06 01bb', '000000']]);
  trie('cilium_policy_v3_00002', [['28000000 01000001 00 00 0000', '000000']]);
  const { endpoints } = await policyEndpoints({ kernel, roots: [ROOT], ids: new Set([16777217]) });
  expect([...(endpoints.get(16777217) ?? [])]).toEqual([1, 2]);
});
