import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEntryLine } from '../../../src/lib/snapshot/check-line.ts';
import { EntryRow } from '../../../src/lib/snapshot/entry-row.ts';
import { scanEntryLine } from '../../../src/lib/snapshot/scan-entry-line.ts';
import { entryLine, entryValue } from '../../support/snapshot-lines.ts';

function scan(line: string): EntryRow | undefined {
  const bytes = Buffer.from(`..${line}\n..`);
  const row = new EntryRow();
  return scanEntryLine(bytes, 2, bytes.length - 3, row) ? row : undefined;
}

function read(line: string): EntryRow | undefined {
  const row = new EntryRow();
  try {
    return readEntryLine(JSON.parse(line), row) === undefined ? row : undefined;
  } catch {
    return undefined;
  }
}

describe('scanEntryLine()', () => {
  it('reads what the JSON parser and the schema read', () => {
    fc.assert(
      fc.property(entryValue, (value) => {
        const line = entryLine(value);
        const row = scan(line);
        expect(row, line).toBeDefined();
        expect(row).toEqual(read(line));
        expect(row?.prefixText()).toBe(value.prefix);
        expect(row?.tunnelText()).toBe(value.tunnelEndpoint);
      }),
    );
  });

  it('never accepts a damaged line that the schema refuses, nor reads another meaning into it', () => {
    const damage = fc.record({
      at: fc.nat(400),
      drop: fc.nat(3),
      put: fc.constantFrom('', '"', ',', '0', '9', 'f', ' '),
    });
    fc.assert(
      fc.property(entryValue, damage, (value, { at, drop, put }) => {
        const line = entryLine(value);
        const cut = at % line.length;
        const damaged = line.slice(0, cut) + put + line.slice(cut + drop);
        const row = scan(damaged);
        if (row !== undefined) expect(row, damaged).toEqual(read(damaged));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['host bits', '{"prefix":"10.0.0.1/24","family":"ipv4","identity":2,"scope":"reserved","encryptKey":0,"flags":[]}'],
    [
      'a wrong scope',
      '{"prefix":"10.0.0.0/24","family":"ipv4","identity":2,"scope":"local","encryptKey":0,"flags":[]}',
    ],
    [
      'a length of 33',
      '{"prefix":"10.0.0.0/33","family":"ipv4","identity":2,"scope":"reserved","encryptKey":0,"flags":[]}',
    ],
    ['@0', '{"prefix":"10.0.0.0/24@0","family":"ipv4","identity":2,"scope":"reserved","encryptKey":0,"flags":[]}'],
    [
      'another cluster',
      '{"prefix":"10.0.0.0/24@1","clusterId":2,"family":"ipv4","identity":2,"scope":"reserved","encryptKey":0,"flags":[]}',
    ],
    [
      'a comma too many',
      '{"prefix":"10.0.0.0/24","family":"ipv4","identity":2,"scope":"reserved","encryptKey":0,"flags":["hastunnel",]}',
    ],
  ])('leaves a line with %s alone, and so does the schema', (_what, line) => {
    expect(scan(line)).toBeUndefined();
    expect(read(line)).toBeUndefined();
  });

  it('leaves lines with warnings to the JSON parser, which reads them', () => {
    const dead = `0x${'47000000'}${'0'.repeat(40)}`;
    const line = `{"prefix":"${dead}","family":"ipv4","identity":2,"scope":"reserved","encryptKey":0,"flags":["0xf0"],"warnings":["dead-entry"]}`;
    expect(scan(line)).toBeUndefined();
    const row = read(line);
    expect(row?.prefixText()).toBe(dead);
    expect(row?.flags).toBe(0xf0);
    expect(row?.extra).toBe('{"warnings":["dead-entry"]}');
  });
});
