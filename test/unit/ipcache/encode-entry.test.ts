import { describe, expect, test } from 'vitest';
import { AmbiguousError, LayoutError } from '../../../src/lib/errors.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { layoutFromEvidence } from '../../../src/lib/ipcache/choose-layout.ts';
import { encodeEntry } from '../../../src/lib/ipcache/encode-entry.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { LayoutEvidence } from '../../../src/lib/ipcache/layout-evidence.ts';
import { parseAddress } from '../../../src/lib/net/address.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { hex, hexTo } from '../../support/hex.ts';

const identity = numericIdentity(16777217);
const tunnel = parseAddress('192.0.2.10') ?? new Uint8Array();
const assumed = layoutFromEvidence('x', new LayoutEvidence().counts);

describe('encodeEntry()', () => {
  test('writes what was asked for and the tunnel flags that follow', () => {
    const v2 = { layout: layoutNamed('v2'), candidates: [layoutNamed('v2')] };
    const { key, value } = encodeEntry(v2, parsePrefix('10.0.0.7/24@1'), {
      identity,
      tunnel,
      encryptKey: 3,
      flags: 0x80,
    });
    expect(key).toEqual(hexTo(24, '38000000 0100 00 01 0a000000'));
    expect(value).toEqual(hex(`01000001 c000020a ${'00'.repeat(12)} 0000 03 82`));
  });

  test('writes into an assumed layout what all candidates place alike', () => {
    const { value } = encodeEntry(assumed, parsePrefix('10.0.0.7'), { identity, tunnel });
    expect(value).toEqual(hex('01000001 c000020a 00000000'));
  });

  test.each([
    ['an encrypt key', '10.0.0.7', { encryptKey: 1 }],
    ['flags', '10.0.0.7', { flags: 1 }],
    ['a cluster ID', '10.0.0.7@3', {}],
  ])('refuses %s in an assumed layout', (_what, prefix, parts) => {
    const encode = () => encodeEntry(assumed, parsePrefix(prefix), { identity, ...parts });
    expect(encode).toThrow(AmbiguousError);
    expect(encode).toThrow(expect.objectContaining({ hint: 'name the layout with --layout 1.16, 1.15, 1.14, 1.5' }));
  });

  test('passes on what the one layout cannot hold', () => {
    const old = { layout: layoutNamed('1.2'), candidates: [layoutNamed('1.2')] };
    expect(() => encodeEntry(old, parsePrefix('10.0.0.7'), { identity, encryptKey: 1 })).toThrow(LayoutError);
  });
});
