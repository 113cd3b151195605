import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseCheckpoint, readCheckpoint } from '../../../src/lib/identity/checkpoint.ts';
import { findInCheckpoint } from '../../../src/lib/identity/checkpoint-find.ts';
import { CheckpointIndex } from '../../../src/lib/identity/checkpoint-index.ts';
import { checkpointChunks } from '../../../src/lib/identity/checkpoint-write.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { CHECKPOINT_IDS, checkpointTexts } from '../../support/arbitrary-checkpoint.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ipc-index-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function fileWith(content: string | Buffer): string {
  const path = join(directory, 'local_allocator_state.json');
  writeFileSync(path, content);
  return path;
}

const PLAIN = '[{"id":16777217,"labels":{"a":{"key":"a","source":"k8s"}}}]\n';

/** What the full reader says: of two records with one number the first. */
function inFull(text: string): Map<number, Labels> {
  const all = new Map<number, Labels>();
  for (const { id, labels } of parseCheckpoint(Buffer.from(text), 'x')) if (!all.has(id)) all.set(id, labels);
  return all;
}

const asText = (labels: Labels | undefined): string | undefined => labels?.sortedList;

describe('CheckpointIndex', () => {
  test('knows what the full reader knows', () => {
    fc.assert(
      fc.property(checkpointTexts, (text) => {
        const all = inFull(text);
        const index = CheckpointIndex.of(Buffer.from(text), 'x');
        expect(index.size).toBe(all.size);
        for (const id of CHECKPOINT_IDS) expect(asText(index.lookup(id))).toBe(asText(all.get(id)));
      }),
      { numRuns: 1000 },
    );
  });

  test('finds each of very many', () => {
    const records = Array.from({ length: 5000 }, (_, i) => ({
      id: numericIdentity(16777217 + i * 3),
      labels: Labels.parse([`fqdn:host-${i}.example.com`]),
    }));
    const index = CheckpointIndex.of(Buffer.concat([...checkpointChunks(records)]), 'x');
    expect(index.size).toBe(5000);
    for (const { id, labels } of records) expect(asText(index.lookup(id))).toBe(labels.sortedList);
    expect(index.lookup(16777218)).toBeUndefined();
  });

  test('is as strict about damage as the full reader', () => {
    expect(() => CheckpointIndex.of(Buffer.from('[{"id":1,"labels":{"a":{}}}]'), 'f')).toThrow('[0].labels["a"]');
  });
});

describe('CheckpointIndex.read()', () => {
  test('of a file answers as of its bytes, in whatever form', () => {
    fc.assert(
      fc.property(checkpointTexts, (text) => {
        const all = inFull(text);
        const index = CheckpointIndex.read(fileWith(text));
        expect(index?.size).toBe(all.size);
        for (const id of CHECKPOINT_IDS) expect(asText(index?.lookup(id))).toBe(asText(all.get(id)));
      }),
      { numRuns: 300 },
    );
  });

  test('reads plain records across the borders of its pieces, and one that is longer than a piece', () => {
    const huge = Array.from({ length: 60 }, (_, i) => `fqdn:key-${i}=${'v'.repeat(20_000)}`);
    const records = Array.from({ length: 9000 }, (_, i) => ({
      id: numericIdentity(16777217 + i),
      labels: Labels.parse(i === 4500 ? huge : [`fqdn:host-${i}.example.com`, `k8s:app=${'x'.repeat(i % 97)}`]),
    }));
    for (const list of [records.filter((_, i) => i !== 4500), records]) {
      const path = fileWith(Buffer.concat([...checkpointChunks(list)]));
      const index = CheckpointIndex.read(path);
      expect(index?.size).toBe(list.length);
      for (const { id, labels } of list) expect(asText(index?.lookup(id))).toBe(labels.sortedList);
      expect(readCheckpoint(path)?.map(({ id }) => id)).toEqual(list.map(({ id }) => id));
    }
  });

  test('reads what cannot be read twice', () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', 'printf %s "$0" > "$1"', PLAIN, pipe]);
    expect(asText(CheckpointIndex.read(pipe)?.lookup(16777217))).toBe('k8s:a=;');
    writer.kill();
  });

  test('waits for a pipe whose writer comes late', () => {
    const pipe = join(directory, 'late-pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', 'sleep 0.3; printf %s "$0" > "$1"', PLAIN, pipe]);
    expect(asText(CheckpointIndex.read(pipe)?.lookup(16777217))).toBe('k8s:a=;');
    writer.kill();
  });

  test('gives up on a pipe whose writer is silent', { timeout: 20_000 }, () => {
    const pipe = join(directory, 'silent-pipe');
    execFileSync('mkfifo', [pipe]);
    expect(() => CheckpointIndex.read(pipe)).toThrow(
      expect.objectContaining({ exitCode: 8, code: 'SILENT_PIPE', message: expect.stringContaining(pipe) }),
    );
  });

  test('refuses what never ends', async () => {
    expect(() => CheckpointIndex.read('/dev/zero')).toThrow(
      expect.objectContaining({ exitCode: 9, message: expect.stringContaining('/dev/zero: it is a device') }),
    );
    const socket = join(directory, 'socket');
    const server = createServer().listen(socket);
    await once(server, 'listening');
    expect(() => CheckpointIndex.read(socket)).toThrow(
      expect.objectContaining({ exitCode: 9, message: expect.stringContaining('it is a socket') }),
    );
    server.close();
  });

  test('is nothing where there is no file', () => {
    expect(CheckpointIndex.read(join(directory, 'none'))).toBeUndefined();
  });
});

describe('findInCheckpoint()', () => {
  test('answers as the full reader, for one number and for several', () => {
    fc.assert(
      fc.property(checkpointTexts, fc.subarray([...CHECKPOINT_IDS]), (text, ids) => {
        const found = findInCheckpoint(fileWith(text), ids);
        for (const id of ids) {
          const all = parseCheckpoint(Buffer.from(text), 'x').filter((record) => record.id === id);
          // Of two with one number it may take either.
          const possible = all.length === 0 ? [undefined] : all.map(({ labels }) => labels.sortedList);
          expect(possible).toContain(asText(found?.get(id)));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('finds a record wherever it lies in the pieces', () => {
    const records = Array.from({ length: 12_000 }, (_, i) => ({
      id: numericIdentity(16777217 + 10 * i),
      labels: Labels.parse([`fqdn:host-${i}.example.com`]),
    }));
    const path = fileWith(Buffer.concat([...checkpointChunks(records)]));
    for (const { id, labels } of records.filter((_, i) => i % 53 === 0)) {
      expect(asText(findInCheckpoint(path, [id, id + 1])?.get(id))).toBe(labels.sortedList);
    }
  });

  test('does not read what it need not: damage elsewhere goes unnoticed', () => {
    const path = fileWith('[{"id":16777217,"labels":{"a":{"key":"a","source":"k8s"}}},{"broken"x{}}}}]');
    expect(asText(findInCheckpoint(path, [16777217])?.get(16777217))).toBe('k8s:a=;');
    expect(() => findInCheckpoint(path, [1, 2, 3, 4, 5])).toThrow('(at byte');
  });

  test('a file cut off is never searched but read, and so refused', () => {
    const path = fileWith('[{"id":16777217,"labels":{"a":{"key":"a","source":"k8s"}}},{"id":167');
    expect(() => findInCheckpoint(path, [16777217])).toThrow('at byte 68');
  });

  test('is nothing where there is no file', () => {
    expect(findInCheckpoint(join(directory, 'none'), [1])).toBeUndefined();
    expect(findInCheckpoint(fileWith(PLAIN), [])).toEqual(new Map());
  });
});
