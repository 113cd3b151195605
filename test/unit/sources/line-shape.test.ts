import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventFault } from '../../../src/lib/sources/event-fault.ts';
import { parseEventLine } from '../../../src/lib/sources/event-line.ts';
import { EventReader, type EventReaderSetup } from '../../../src/lib/sources/event-reader.ts';

type Heard = readonly [how: 'upsert' | 'event', event: unknown];

/** What a reader makes of the lines, and by which way each upsert came. */
function read(
  lines: readonly (string | Buffer)[],
  chunkBytes = Number.POSITIVE_INFINITY,
): { heard: Heard[]; bad: number } {
  const heard: Heard[] = [];
  let bad = 0;
  const setup: EventReaderSetup = {
    name: 'test',
    source: 'api',
    onEvent: (event) => heard.push(['event', event]),
    onUpsert: (upsert) => heard.push(['upsert', upsert.event()]),
    onBadLine: () => bad++,
  };
  const reader = new EventReader(setup);
  const bytes = Buffer.concat(lines.flatMap((line) => [Buffer.from(line as string), Buffer.from('\n')]));
  for (let from = 0; from < bytes.length; from += chunkBytes) reader.push(bytes.subarray(from, from + chunkBytes));
  reader.end();
  return { heard, bad };
}

/** What the JSON reader makes of them. */
function readSlowly(lines: readonly (string | Buffer)[]): { events: unknown[]; bad: number } {
  const events: unknown[] = [];
  let bad = 0;
  for (const line of lines) {
    try {
      const event = parseEventLine(line.toString(), 'api');
      if (event !== undefined) events.push(event);
    } catch (error) {
      if (!(error instanceof EventFault)) throw error;
      bad++;
    }
  }
  return { events, bad };
}

const prefix = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 33 })).map(([address, length]) => `${address}/${length}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 129 })).map(([address, length]) => `${address}/${length}`),
  fc.constantFrom('010.0.0.1', '10.0.0.1@2', '', '10.0.0.256', '::ffff:10.0.0.1', '10.0.0.1/', '10.0.0.1/08', '1.2.3'),
);
const values = fc.record({
  op: fc.constantFrom('upsert', 'upsert', 'upsert', 'delete'),
  prefix,
  identity: fc.oneof(fc.nat(), fc.constantFrom(0, 4294967295, 4294967296, -1, 1.5, 99999999999)),
  hostIP: fc.oneof(fc.ipV4(), fc.constantFrom('', 'x', 'fd00::1', '::ffff:192.0.2.1')),
  encryptKey: fc.nat(300),
  source: fc.constantFrom('kvstore', 'kvstore', 'kvstore', 'k8s', 'nobody'),
  namespace: fc.constantFrom('', 'shop'),
  name: fc.constantFrom('a', 'é', 'b"', ''),
});
type Optional = 'hostIP' | 'encryptKey' | 'source' | 'namespace' | 'name';
const OPTIONAL: Optional[] = ['hostIP', 'encryptKey', 'source', 'namespace', 'name'];
/** Lines of one source: each with the same fields, but now and then one that leaves some out. */
const events = fc
  .tuple(fc.subarray(OPTIONAL), fc.subarray(OPTIONAL), fc.array(fc.tuple(values, fc.nat(5)), { maxLength: 20 }))
  .map(([usual, other, lines]) =>
    lines.map(([all, choice]) => {
      const named = choice === 0 ? other : usual;
      const { op, prefix, identity } = all;
      const pod = named.filter((name) => name === 'namespace' || name === 'name').map((name) => [name, all[name]]);
      const rest = named.filter((name) => name !== 'namespace' && name !== 'name').map((name) => [name, all[name]]);
      return {
        op,
        prefix,
        identity,
        ...Object.fromEntries(rest),
        ...(pod.length > 0 && { pod: Object.fromEntries(pod) }),
      };
    }),
  );

describe('lines like the ones before', () => {
  it('are the events that the JSON reader makes of them, however they are cut', () => {
    let fast = 0;
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 400 }), (given, chunkBytes) => {
        // Twice, so that every shape has been seen.
        const lines = [...given, ...given].map((event) => JSON.stringify(event));
        const { heard, bad } = read(lines, chunkBytes);
        fast += heard.filter(([how]) => how === 'upsert').length;
        expect({ events: heard.map(([, event]) => event), bad }).toEqual(readSlowly(lines));
      }),
      { numRuns: 500 },
    );
    expect(fast).toBeGreaterThan(100);
  });

  it('are read with the same result when any byte is another one', () => {
    const line =
      '{"op":"upsert","prefix":"10.12.0.0/16","identity":41234,"hostIP":"192.0.2.10","encryptKey":0,"pod":{"name":"a"}}';
    fc.assert(
      fc.property(fc.nat(line.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        fc.pre(byte !== 10);
        const bytes = Buffer.from(line);
        bytes[at] = byte;
        const { heard, bad } = read([line, bytes, line]);
        expect({ events: heard.map(([, event]) => event), bad }).toEqual(readSlowly([line, bytes, line]));
      }),
      { numRuns: 3000 },
    );
  });

  it('come without an object each, also when a few shapes take turns', () => {
    const line = (i: number) => {
      const pod = i % 3 === 0 ? ',"pod":{"namespace":"shop","name":"cart"}' : '';
      return `{"op":"upsert","prefix":"10.0.${i}.0/24","identity":${i}${pod}}`;
    };
    const { heard } = read(Array.from({ length: 40 }, (_, i) => line(i)));
    expect(heard.filter(([how]) => how === 'event')).toHaveLength(2);
  });

  it('of other clusters are left to the rules for them', () => {
    const line = '{"op":"upsert","prefix":"10.0.0.1","identity":131072}';
    const { heard, bad } = read([line, line.replace('10.0.0.1', '10.0.0.1@2'), line.replace('10.0.0.1', '10.0.0.1@9')]);
    expect(heard.map(([how]) => how)).toEqual(['event', 'event']);
    expect(bad).toBe(1);
  });
});
