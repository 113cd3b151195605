import { describe, expect, test } from 'vitest';
import { formatPorts, formatRule } from '../../../src/lib/policymap/format-rule.ts';
import {
  decodePolicyRule,
  HASH_KEY,
  type PolicyKeyLayout,
  policyIdentity,
  TRIE_KEY,
} from '../../../src/lib/policymap/policy-rule.ts';
import { hex } from '../../support/hex.ts';

const decode = (layout: PolicyKeyLayout, key: string, value = '000000') =>
  decodePolicyRule(layout, 1234, { keys: hex(`ff${key}`), keyAt: 1, values: hex(`ffff${value}`), valueAt: 2 });

// 16777217 is 01000001, little endian.
const ID = '01000001';

describe('decodePolicyRule()', () => {
  test.each([
    ['40000000', '01 06 01bb', 'endpoint 1234 egress allow 443/tcp'],
    ['40000000', '00 11 0035', 'endpoint 1234 ingress allow 53/udp'],
    ['30000000', '00 06 0000', 'endpoint 1234 ingress allow any/tcp'],
    ['28000000', '01 00 0000', 'endpoint 1234 egress allow any'],
    ['36000000', '01 06 0400', 'endpoint 1234 egress allow 1024-2047/tcp'],
    ['3f000000', '01 fe 0002', 'endpoint 1234 egress allow 2-3/254'],
  ])('reads a trie key of length %s with %s', (length, rest, text) => {
    const rule = decode(TRIE_KEY, `${length} ${ID} ${rest}`);
    expect(rule.identity).toBe(16777217);
    expect(formatRule(rule)).toBe(text);
  });

  test.each([
    ['01bb 06 01', 'endpoint 1234 egress allow 443/tcp'],
    ['0000 11 00', 'endpoint 1234 ingress allow any/udp'],
    ['0000 00 01', 'endpoint 1234 egress allow any'],
  ])('reads a hash key with %s', (rest, text) => {
    const rule = decode(HASH_KEY, `${ID} ${rest}`);
    expect(rule.identity).toBe(16777217);
    expect(formatRule(rule)).toBe(text);
  });

  test('takes deny from bit 0 of the third byte of the value, whatever stands around it', () => {
    expect(decode(TRIE_KEY, `40000000 ${ID} 01 06 01bb`, 'ffff01').action).toBe('deny');
    expect(decode(TRIE_KEY, `40000000 ${ID} 01 06 01bb`, 'fffffe').action).toBe('allow');
  });

  test('reads the identity as an unsigned number', () => {
    const key = hex('40000000 ffffffff 01 06 01bb');
    expect(policyIdentity(TRIE_KEY, key, 0)).toBe(4294967295);
  });
});

test('formatPorts() of nothing is any', () => {
  expect(formatPorts({})).toBe('any');
});
