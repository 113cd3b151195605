import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IpcacheEvent } from '../../../src/lib/cache/listener.ts';
import { BpfListener } from '../../../src/lib/datapath/bpf-listener.ts';
import { writeEventKey } from '../../../src/lib/datapath/event-key.ts';
import { ValueEncoder } from '../../../src/lib/datapath/event-value.ts';
import { monitorLine } from '../../../src/lib/datapath/monitor-notification.ts';
import { tunnelOfHost } from '../../../src/lib/datapath/tunnel-endpoint.ts';
import { LayoutError } from '../../../src/lib/errors.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { encodeKey } from '../../../src/lib/ipcache/key.ts';
import { LAYOUTS, layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { encodeValue, newRemoteEndpointInfo } from '../../../src/lib/ipcache/remote-endpoint-info.ts';
import { formatPrefix, makePrefix } from '../../../src/lib/net/prefix.ts';

const RULES = { underlay: 'ipv4', node: { ipv4: Uint8Array.of(192, 0, 2, 1) } } as const;
const address = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
);
const layouts = fc.constantFrom(...LAYOUTS);

/** What a function gives or throws; the two ways must agree in both. */
function result(run: () => Uint8Array): string {
  try {
    return Buffer.from(run()).toString('hex');
  } catch (error) {
    if (error instanceof LayoutError) return 'LayoutError';
    throw error;
  }
}

describe('bytes of an event', () => {
  it('writeEventKey() gives the key that encodeKey() gives', () => {
    const property = fc.property(
      layouts,
      address,
      fc.nat(128),
      fc.constantFrom(0, 0, 1, 255),
      (layout, bytes, bits, id) => {
        const prefix = makePrefix(bytes, Math.min(bits, bytes.length * 8), id);
        const fast = result(() => {
          const key = new Uint8Array(24).fill(0xff);
          writeEventKey(layout, formatPrefix(prefix), key);
          return key;
        });
        expect(fast).toBe(result(() => encodeKey(layout, prefix)));
      },
    );
    fc.assert(property);
  });

  it('ValueEncoder gives the value that encodeValue() gives, in every layout', () => {
    const hosts = fc.constantFrom(undefined, '', '192.0.2.1', '192.0.2.2', 'fd00::2', '::ffff:192.0.2.9', '0.0.0.0');
    const entry = fc.record({
      identity: fc.oneof(fc.nat(0xffff), fc.nat(0xffffffff)),
      hostIP: hosts,
      encryptKey: fc.constantFrom(0, 0, 3, 255),
      endpointFlags: fc.constantFrom(0, 0, 1, 9),
    });
    const property = fc.property(
      layouts,
      fc.constantFrom('ipv4', 'ipv6'),
      fc.array(entry),
      (layout, underlay, entries) => {
        const rules = { ...RULES, underlay };
        const encoder = new ValueEncoder(layout, rules);
        for (const { identity, hostIP, encryptKey, endpointFlags } of entries) {
          const fast = result(() => {
            const value = new Uint8Array(layout.value.bytes).fill(0xff);
            encoder.write({ identity, hostIP, encryptKey, endpointFlags }, value);
            return value;
          });
          const tunnel = tunnelOfHost(rules, hostIP);
          const slow = result(() => {
            const parts = { identity: numericIdentity(identity), encryptKey, flags: endpointFlags };
            return encodeValue(layout, newRemoteEndpointInfo(layout, { ...parts, ...(tunnel && { tunnel }) }));
          });
          expect(fast).toBe(slow);
        }
      },
    );
    fc.assert(property);
  });
});

describe('BpfListener', () => {
  const entry = { identity: 5, source: 'k8s', hostIP: '192.0.2.9', encryptKey: 3, endpointFlags: 0, pod: undefined };
  const event = (changes: Partial<typeof entry>): IpcacheEvent => ({
    kind: 'upsert',
    prefix: '10.0.0.1/32',
    entry: { ...entry, ...changes },
    old: entry,
  });

  it('op 44: passes another key on, counts what changes nothing in the map', () => {
    const passed: string[] = [];
    const listener = new BpfListener({
      layout: layoutNamed('v2'),
      rules: RULES,
      changes: { upsert: (_key, value) => passed.push(Buffer.from(value).toString('hex').slice(-4)), remove: () => {} },
    });
    listener.onIpcacheEvent(event({ encryptKey: 4 }));
    listener.onIpcacheEvent(event({ source: 'kvstore' }));
    expect(passed).toEqual(['0402']);
    expect(listener.unchanged).toBe(1);
  });

  it('tells what the layout has no place for, and goes on', () => {
    const told: string[] = [];
    let passed = 0;
    const listener = new BpfListener({
      layout: layoutNamed('1.16'),
      rules: { underlay: 'ipv6', node: {} },
      changes: { upsert: () => passed++, remove: () => {} },
      onUnwritable: ({ prefix }, { code }) => told.push(`${prefix} ${code}`),
    });
    listener.onIpcacheEvent(event({ hostIP: 'fd00::2' }));
    listener.onIpcacheEvent(event({ encryptKey: 4 }));
    expect({ told, passed }).toEqual({ told: ['10.0.0.1/32 LAYOUT'], passed: 1 });
  });
});

describe('monitorLine()', () => {
  it('is what a monitor prints, and says when the map has not got it', () => {
    const entry = { identity: 41234, source: 'k8s', hostIP: '192.0.2.10', encryptKey: 0, endpointFlags: 0 };
    const pod = { namespace: 'shop', name: 'cart-0' };
    const old = { ...entry, identity: 3, hostIP: undefined, pod: undefined };
    const event: IpcacheEvent = { kind: 'upsert', prefix: '10.12.0.7/32@2', entry: { ...entry, pod }, old };
    const message =
      '{"cidr":"10.12.0.7/32","id":41234,"old-id":3,"host-ip":"192.0.2.10","encrypt-key":0,"namespace":"shop","pod-name":"cart-0"}';
    const line = `{"type":"agent","subtype":"IPCache entry upserted","message":${message}`;
    expect(monitorLine(event, true)).toBe(`${line}}\n`);
    expect(monitorLine(event, false)).toBe(`${line},"applied":false}\n`);
  });
});
