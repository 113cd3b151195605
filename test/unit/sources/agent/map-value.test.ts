import { describe, expect, it } from 'vitest';
import { numericIdentity } from '../../../../src/lib/identity/numeric-identity.ts';
import { ciliumValueString } from '../../../../src/lib/ipcache/cilium-value.ts';
import { parseMapKey, parseMapValue } from '../../../../src/lib/sources/agent/map-value.ts';

describe('parseMapKey()', () => {
  it.each([
    ['10.12.0.7/32', '10.12.0.7/32'],
    ['10.12.0.0/16@5', '10.12.0.0/16@5'],
    ['fd00::1/128', 'fd00::1/128'],
    ['10.12.0.7', undefined],
    ['10.12.0.7/33', undefined],
    ['<nil>', undefined],
    [7, undefined],
  ])('of %j is %j', (text, prefix) => {
    expect(parseMapKey(text)).toBe(prefix);
  });
});

describe('parseMapValue()', () => {
  it('reads what the agent prints', () => {
    expect(
      parseMapValue('identity=41234 encryptkey=3 tunnelendpoint=192.0.2.10 flags=hastunnel,remotecluster'),
    ).toEqual({
      identity: 41234,
      encryptKey: 3,
      tunnelEndpoint: '192.0.2.10',
      flags: 10,
    });
    const none = { identity: 2, encryptKey: 0, flags: 0 };
    expect(parseMapValue('identity=2 encryptkey=0 tunnelendpoint=0.0.0.0 flags=<none>')).toEqual(none);
    expect(parseMapValue('identity=2 encryptkey=0 tunnelendpoint=:: flags=<none>')).toEqual(none);
    expect(parseMapValue('identity=2 encryptkey=0 tunnelendpoint=0.0.0.0')).toEqual(none);
  });

  it('reads back what our own form of it says', () => {
    for (let flags = 0; flags < 16; flags++) {
      const info = {
        identity: numericIdentity(16777217),
        encryptKey: 7,
        flags,
        tunnelBytes: Uint8Array.of(192, 0, 2, 1),
      };
      const text = ciliumValueString(info);
      expect(parseMapValue(text)).toMatchObject({ identity: 16777217, encryptKey: 7, flags });
    }
  });

  it.each([
    '<nil>',
    '',
    'identity=x encryptkey=0 tunnelendpoint=0.0.0.0',
    'identity=4294967296 encryptkey=0 tunnelendpoint=::',
    'identity=2 encryptkey=256 tunnelendpoint=::',
    'identity=2 encryptkey=0',
    'identity=2 encryptkey=0 tunnelendpoint=:: flags=what',
    3,
  ])('has nothing for %j', (text) => {
    expect(parseMapValue(text)).toBeUndefined();
  });
});
