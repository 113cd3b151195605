import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventFault } from '../../../src/lib/sources/event-fault.ts';
import { parseEventLine } from '../../../src/lib/sources/event-line.ts';
import { PlainEvents } from '../../../src/lib/sources/plain-event.ts';

const plain = new PlainEvents('api');

function readPlain(line: string) {
  const bytes = Buffer.from(line);
  return plain.read(bytes, 0, bytes.length);
}

/** What the JSON reader makes of the line; undefined where it refuses it. */
function readJson(line: string) {
  try {
    return parseEventLine(line, 'api');
  } catch (error) {
    if (error instanceof EventFault) return undefined;
    throw error;
  }
}

const prefix = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 33 })).map(([address, length]) => `${address}/${length}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 129 })).map(([address, length]) => `${address}/${length}`),
  fc.constantFrom('010.0.0.1', '10.0.0.1@2', '', '10.0.0.256', '::ffff:10.0.0.1'),
);
const host = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('', 'x', '::ffff:192.0.2.1'));
const number = fc.oneof(fc.nat(), fc.constantFrom(0, 4294967295, 4294967296, -1, 1.5, '7', null, 99999999999));
const pod = fc.oneof(
  fc.record({ namespace: fc.string(), name: fc.string() }, { requiredKeys: [] }),
  fc.constant({ namespace: 'shop', name: 'cart-0', namedPorts: { http: { port: 80, protocol: 'TCP' } } }),
);
const optional = {
  source: fc.constantFrom('kvstore', 'k8s'),
  pod: fc.record({ namespace: fc.constantFrom('', 'shop'), name: fc.constantFrom('a', 'é', 'b"') }),
};
const good = fc.oneof(
  fc.record(
    { op: fc.constant('upsert'), prefix, identity: fc.nat(), hostIP: host, encryptKey: fc.nat(300), ...optional },
    { requiredKeys: ['op', 'prefix', 'identity'] },
  ),
  fc.record(
    { op: fc.constant('delete'), prefix, expectIdentity: fc.nat(), ...optional },
    { requiredKeys: ['op', 'prefix'] },
  ),
);
const any = fc.record(
  {
    op: fc.constantFrom('upsert', 'delete', 'synced', 'upser', 'upsertx'),
    prefix,
    identity: number,
    expectIdentity: number,
    hostIP: host,
    encryptKey: number,
    source: fc.constantFrom('kvstore', 'k8s', 'nobody'),
    pod,
    typo: fc.constant(1),
  },
  { requiredKeys: ['op', 'prefix'] },
);

describe('PlainEvents', () => {
  it('read() says exactly what the JSON reader says, or nothing', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(good, any), (fields: object) => {
        const line = JSON.stringify(fields);
        const mine = readPlain(line);
        if (mine === undefined) return;
        read++;
        expect(mine).toEqual(readJson(line));
      }),
      { numRuns: 5000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it('read() agrees on lines with any byte changed', () => {
    const line =
      '{"op":"upsert","prefix":"10.12.0.7","identity":41234,"hostIP":"192.0.2.10","encryptKey":0,"source":"kvstore"}';
    fc.assert(
      fc.property(fc.nat(line.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const bytes = Buffer.from(line);
        bytes[at] = byte;
        const mine = plain.read(bytes, 0, bytes.length);
        if (mine !== undefined) expect(mine).toEqual(readJson(bytes.toString()));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    '{"op":"upsert","prefix":"10.12.0.7","identity":41234}',
    '{"op":"upsert","prefix":"10.12.0.0/16","identity":2,"hostIP":"","encryptKey":255,"source":"kvstore"}',
    '{"identity":41234,"prefix":"fd00::7","pod":{"namespace":"shop","name":"cart-0"},"op":"upsert"}',
    '{"op":"delete","prefix":"10.12.0.7","expectIdentity":41234,"source":"kvstore"}',
    '{"op":"delete","prefix":"10.12.0.7","pod":{"name":"cart-0"}}',
  ])('read() needs no JSON for %s', (line) => {
    expect(readPlain(line)).toEqual(parseEventLine(line, 'api'));
  });

  it.each([
    ['white space', '{"op": "upsert","prefix":"10.12.0.7","identity":1}'],
    ['an escape', '{"op":"upsert","prefix":"10.12.0.7","identity":1,"pod":{"name":"a\\u0062"}}'],
    ['a field twice', '{"op":"upsert","prefix":"10.12.0.7","identity":1,"identity":2}'],
    ['a cluster', '{"op":"upsert","prefix":"10.12.0.7@2","identity":131072}'],
    ['something behind it', '{"op":"synced"}{"op":"synced"}'],
    ['an open end', '{"op":"upsert","prefix":"10.12.0.7","identity":1'],
    ['a field of another event', '{"op":"delete","prefix":"10.12.0.7","identity":1}'],
  ])('read() leaves a line with %s to the JSON reader', (_, line) => {
    expect(readPlain(line)).toBeUndefined();
  });
});
