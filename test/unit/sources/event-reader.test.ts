import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MalformedError } from '../../../src/lib/errors.ts';
import type { LineEvent } from '../../../src/lib/sources/event-line.ts';
import { EventReader, LONGEST_LINE_BYTES } from '../../../src/lib/sources/event-reader.ts';

function collect(chunks: readonly Uint8Array[]) {
  const events: LineEvent[] = [];
  const bad: MalformedError[] = [];
  const reader = new EventReader({
    name: 'feed.ndjson',
    source: 'api',
    onEvent: (event) => events.push(event),
    onBadLine: (error) => bad.push(error),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { events, bad, lines: reader.lines };
}

const line = (i: number): string =>
  `{"op":"upsert","prefix":"10.0.0.${i}","identity":${1000 + i},"pod":{"namespace":"é","name":"pö${i}"}}\n`;

describe('EventReader', () => {
  test('op 45 applies good lines, names bad ones by line and goes on', () => {
    const { events, bad, lines } = collect([
      Buffer.from(
        [
          '{"op":"upsert","prefix":"10.0.0.1","identity":1000}',
          '{"IP":"10.0.0.2","Mask":null,"ID":1001}',
          '{"IP":null,"ID":1002}',
          '',
          '{"op":"upsert","prefix":"10.0.0.3","iden',
          '{"op":"synced"}',
        ].join('\n'),
      ),
    ]);
    expect(events.map(({ op }) => op)).toEqual(['upsert', 'upsert', 'synced']);
    expect(bad.map(({ message }) => message)).toEqual([
      'Cannot use line 3 of feed.ndjson: IP is missing',
      'Cannot use line 5 of feed.ndjson: it is not JSON',
    ]);
    expect(bad[0]).toMatchObject({
      exitCode: 9,
      code: 'BAD_EVENT',
      operands: { file: 'feed.ndjson', line: 3, field: 'IP' },
    });
    expect(lines).toBe(6);
  });

  test('where chunks are cut makes no difference, inside a character neither', () => {
    const text = Buffer.from([1, 2, 3, 4].map(line).join(''));
    const whole = collect([text]);
    expect(whole.events).toHaveLength(4);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const edges = [0, ...cuts, text.length].sort((a, b) => a - b);
        const chunks = edges.slice(1).map((edge, i) => text.subarray(edges[i], edge));
        expect(collect(chunks)).toEqual(whole);
      }),
    );
  });

  test('a line beyond the bound is refused and does not fill memory, the next one is read', () => {
    const long = Buffer.alloc(1 << 16, 'x');
    const chunks = [Buffer.from(line(1)), ...Array<Buffer>(40).fill(long), Buffer.from(`\n${line(2)}`)];
    const { events, bad } = collect(chunks);
    expect(events).toHaveLength(2);
    expect(bad.map(({ message }) => message)).toEqual([
      `Cannot use line 2 of feed.ndjson: it is longer than ${LONGEST_LINE_BYTES} bytes`,
    ]);
    expect(collect([Buffer.alloc(LONGEST_LINE_BYTES + 1, 'x'), Buffer.from('\n')]).bad).toHaveLength(1);
    expect(collect([Buffer.concat([Buffer.alloc(LONGEST_LINE_BYTES + 1, 'x'), Buffer.from('\n')])]).bad).toHaveLength(
      1,
    );
  });

  test('never anything but an event or a named fault, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const { bad, events, lines } = collect([bytes]);
        expect(bad.length + events.length).toBeLessThanOrEqual(lines);
      }),
    );
    fc.assert(
      fc.property(fc.json(), (text) => {
        const { bad, events } = collect([Buffer.from(text)]);
        for (const { code, exitCode } of bad) expect([code, exitCode]).toEqual(['BAD_EVENT', 9]);
        expect(bad.length + events.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
