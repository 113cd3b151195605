import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import schema from '../../../schemas/checkpoint.json' with { type: 'json' };
import { emptyCheckpoint, type StateCheckpoint } from '../../../src/lib/state/checkpoint.ts';
import { checkpointText } from '../../../src/lib/state/checkpoint-text.ts';
import { decodeCheckpoint, readCheckpoint } from '../../../src/lib/state/read-checkpoint.ts';

const PIN = '/sys/fs/bpf/tc/globals/cilium_ipcache_v2';
const TIME = '2026-01-02T03:04:05.006Z';
const BOOT = '5f0e7c1a-0000-4000-8000-000000000001';

const full: StateCheckpoint = {
  ...emptyCheckpoint(PIN, TIME, BOOT),
  map: { id: 189, layout: 'v2' },
  writer: { pid: 4711, started: TIME, drained: false },
  restored: { time: TIME, mapId: 188, graceMs: 30_000, graceFrom: TIME, summary: { restored: 2, conflicts: null } },
  identities: [
    {
      identity: 16777217,
      labels: ['cidr:10.0.0.0/24', 'reserved:world-ipv4'],
      labelsFrom: 'allocator',
      prefixes: ['10.0.0.0/24'],
    },
    { identity: 33554433, prefixes: [] },
  ],
  ingress: ['10.244.2.5/32'],
  placeholders: [{ prefix: '2001:db8::/64@3', identity: 16777217, requested: true, time: TIME }],
  sources: [{ name: 'a', reference: 'ndjson:-', rank: 'kvstore', connected: true, synced: TIME }],
  pending: [
    { op: 'upsert', prefix: '10.0.0.9/32', identity: 300, encryptKey: 3, flags: ['hastunnel'], errno: 'ENOSPC' },
  ],
  collected: [{ time: TIME, family: 'ipv4', scope: 'local', deleted: 12 }],
};

const encode = (state: StateCheckpoint): Buffer => Buffer.from([...checkpointText(state)].join(''));

describe('checkpointText()', () => {
  it('writes what the published schema describes and the reader gives back', () => {
    const valid = new Ajv2020({ strict: false }).compile(schema);
    for (const state of [full, emptyCheckpoint(PIN, TIME, BOOT)]) {
      const bytes = encode(state);
      expect(valid(JSON.parse(bytes.toString()))).toBe(true);
      expect(decodeCheckpoint(bytes, 'f')).toEqual(state);
    }
  });

  it('begins with version, kind and pin, and has one record a line', () => {
    const lines = encode(full).toString().split('\n');
    expect(lines[0]).toMatch(/^\{"schemaVersion":1,"kind":"ipc-checkpoint","pin":"\/sys/);
    expect(lines.filter((line) => line.startsWith('{"identity":'))).toHaveLength(2);
    expect(lines.at(-1)).toBe('');
  });

  it('hands out short pieces however many prefixes one identity has', () => {
    const prefixes = Array.from({ length: 50_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`);
    const state = { ...full, identities: [{ identity: 16777217, prefixes }] };
    const pieces = [...checkpointText(state)];
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(64 * 1024);
    expect(decodeCheckpoint(Buffer.from(pieces.join('')), 'f')).toEqual(state);
  });

  it('survives any text in labels and names', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.string(), (labels, name) => {
        const state: StateCheckpoint = {
          ...full,
          identities: [{ identity: 16777218, labels, prefixes: [] }],
          sources: [{ name, reference: name, rank: 'k8s', connected: false, error: name }],
        };
        expect(decodeCheckpoint(encode(state), 'f')).toEqual(state);
      }),
    );
  });
});

describe('readCheckpoint()', () => {
  let dir: string;
  beforeEach(() => {
    dir = fs.mkdtempSync(join(tmpdir(), 'ipc-state-'));
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));
  const put = (bytes: string | Uint8Array): string => {
    fs.writeFileSync(join(dir, 'checkpoint.json'), bytes);
    return join(dir, 'checkpoint.json');
  };
  const changed = (from: string | RegExp, to: string): string => encode(full).toString().replace(from, to);

  it('is undefined without a file and without a directory', () => {
    expect(readCheckpoint(dir)).toBeUndefined();
    expect(readCheckpoint(join(dir, 'none'))).toBeUndefined();
  });

  it('masks host bits and unmaps addresses, as at every edge', () => {
    put(changed('"10.0.0.0/24"]', '"10.0.0.7/24","::ffff:192.0.2.1/128"]'));
    expect(readCheckpoint(dir)?.identities[0]?.prefixes).toEqual(['10.0.0.0/24', '192.0.2.1/32']);
  });

  it('refuses a newer schema and says so', () => {
    const file = put('{"schemaVersion":2,"kind":"ipc-checkpoint","somethingNew":[]}');
    expect(() => readCheckpoint(dir)).toThrow(expect.objectContaining({ code: 'NEWER_SCHEMA', exitCode: 9 }));
    expect(fs.readFileSync(file, 'utf8')).toContain('somethingNew');
  });

  it.each([
    ['cut off', encode(full).subarray(0, 400), 'it is cut off after 400 bytes'],
    ['empty', '', 'it is empty'],
    ['of another kind', changed('ipc-checkpoint', 'other'), 'field kind at byte 26 is not "ipc-checkpoint"'],
    ['with a global identity', changed('16777217', '300'), /field identities\[0\]\.identity at byte \d+ is not from/],
    [
      'with a number twice',
      changed('33554433', '16777217'),
      /field identities\[1\]\.identity at byte \d+ repeats 16777217/,
    ],
    [
      'with an impossible prefix',
      changed('10.244.2.5/32', '10.244.2.5/33'),
      /field ingress\[0\] at byte \d+ is no prefix/,
    ],
    ['with a field too many', changed('"map":', '"mapp":'), /field mapp at byte 181 is not a field of this version/],
  ])('names file, offset and field of a file %s', (_, bytes, state) => {
    const file = put(bytes);
    const error = (() => {
      try {
        return readCheckpoint(dir);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ exitCode: 9, operands: { file } });
    expect(String(error)).toMatch(state);
    expect(fs.readFileSync(file)).toEqual(Buffer.from(bytes));
  });
});
