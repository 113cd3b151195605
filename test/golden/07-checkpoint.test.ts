import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MalformedError, ToolError } from '../../src/lib/errors.ts';
import { CachingAllocator } from '../../src/lib/identity/caching-allocator.ts';
import { readCheckpoint } from '../../src/lib/identity/checkpoint.ts';
import { checkpointChunks, writeCheckpoint } from '../../src/lib/identity/checkpoint-write.ts';
import { type Label, parseLabel } from '../../src/lib/identity/label.ts';
import { Labels } from '../../src/lib/identity/labels.ts';
import { labelsModel } from '../../src/lib/identity/labels-format.ts';
import { numericIdentity } from '../../src/lib/identity/numeric-identity.ts';
import { textFromBytes } from '../../src/lib/identity/utf8-text.ts';
import { cachingState, type GoldenOptions, goldenOptions, labelTexts } from './identity-cases.ts';
import { loadTopic } from './load.ts';

interface WriteInput {
  readonly identities: readonly {
    readonly id: number;
    readonly labels: readonly { source: string; key: string; value: string; valueBase64?: string }[];
  }[];
}

interface RestoreInput {
  readonly kind: 'file' | 'missing' | 'directory';
  readonly checkpoint?: string;
  readonly checkpointBase64?: string;
  readonly probes?: readonly { readonly labels: readonly string[]; readonly oldNID?: number }[];
}

interface Input extends Partial<WriteInput>, Partial<RestoreInput> {
  readonly op: string;
  readonly options?: GoldenOptions;
  readonly existingMode?: string;
}

interface Expect {
  readonly canonical?: string;
  readonly canonicalBase64?: string;
  readonly length?: number;
  readonly mode?: string;
  readonly filesInDir?: readonly string[];
  readonly panic?: string | null;
  readonly errorClass?: string | null;
  readonly returned?: unknown;
  readonly state?: unknown;
  readonly selectorUpdates?: unknown;
  readonly probes?: unknown;
  readonly afterRelease?: {
    readonly state: unknown;
    readonly selectorUpdates: unknown;
    readonly checkpointCanonical?: string;
  };
}

const FILE = 'local_allocator_state.json';
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ipc-golden-07-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const modeOf = (path: string): string => `0${(statSync(path).mode & 0o777).toString(8)}`;
const bytesOf = (text: string | undefined, base64: string | undefined): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');

function recordsOf(input: WriteInput) {
  return input.identities.map(({ id, labels }) => ({
    id: numericIdentity(id),
    labels: Labels.of(
      labels.map(({ source, key, value, valueBase64 }): Label => {
        return { source, key, value: valueBase64 ? textFromBytes(Buffer.from(valueBase64, 'base64')) : value };
      }),
    ),
  }));
}

async function checkWrite(input: WriteInput, wanted: Expect): Promise<void> {
  const path = join(directory, FILE);
  await writeCheckpoint(path, recordsOf(input));
  const written = readFileSync(path);
  expect(written.toString('latin1')).toBe(bytesOf(wanted.canonical, wanted.canonicalBase64).toString('latin1'));
  expect(written).toHaveLength(wanted.length ?? -1);
  expect(modeOf(path)).toBe(wanted.mode);
}

async function checkOverwrite(input: Input, wanted: Expect): Promise<void> {
  const path = join(directory, FILE);
  writeFileSync(path, 'old content');
  chmodSync(path, Number.parseInt(input.existingMode ?? '0600', 8));
  const labels = Labels.of([parseLabel('cidr:10.0.0.0/8')]);
  await writeCheckpoint(path, [{ id: numericIdentity(16777217), labels }]);
  expect(readFileSync(path, 'utf8')).toBe(wanted.canonical);
  expect(modeOf(path)).toBe(wanted.mode);
  expect(readdirSync(directory)).toEqual(wanted.filesInDir);
}

/** What Cilium prints loses bytes that are not UTF-8; ours keeps them, so compare both as Go would print them. */
const asGoPrints = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? Buffer.from(part).toString() : part));

function checkRestore(input: RestoreInput, options: GoldenOptions, wanted: Expect): void {
  const path = join(directory, FILE);
  if (input.kind === 'directory') mkdirSync(path);
  if (input.kind === 'file') writeFileSync(path, bytesOf(input.checkpoint, input.checkpointBase64));
  const updates: object[] = [];
  const allocator = new CachingAllocator({
    options: goldenOptions(options),
    strictUpstream: true,
    onSelectorUpdate: ({ added, deleted }) =>
      updates.push({ added: labelTexts(added), deleted: [...deleted].sort((a, b) => a - b) }),
  });
  if (wanted.panic) {
    expect(() => readCheckpoint(path, { strictUpstream: true })).toThrow(MalformedError);
    return;
  }
  let errorClass: string | null = null;
  let returned: unknown = null;
  try {
    const restored = allocator.restoreLocalIdentities(readCheckpoint(path, { strictUpstream: true }));
    if (restored !== undefined) {
      const rows = [...restored].map(([id, identity]) => [
        id,
        { id: identity.id, labels: labelsModel(identity.labels) },
      ]);
      returned = Object.fromEntries(rows);
    }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    errorClass = error instanceof MalformedError ? 'parse' : 'open';
  }
  expect(errorClass).toBe(wanted.errorClass);
  expect(asGoPrints(returned)).toEqual(wanted.returned);
  expect(asGoPrints(cachingState(allocator))).toEqual(wanted.state);
  expect(asGoPrints(updates.splice(0))).toEqual(wanted.selectorUpdates);
  const probes = (input.probes ?? []).map(({ labels, oldNID = 0 }) => {
    const { identity, isNew } = allocator.allocateLocalIdentity(Labels.parse(labels), { requested: oldNID });
    return { id: identity.id, isNew, error: null };
  });
  expect(probes).toEqual(wanted.probes);
  allocator.releaseRestoredIdentities();
  expect(asGoPrints(cachingState(allocator))).toEqual(wanted.afterRelease?.state);
  expect(asGoPrints(updates)).toEqual(wanted.afterRelease?.selectorUpdates);
  const file = Buffer.concat([...checkpointChunks(allocator.identities())]);
  if (wanted.afterRelease?.checkpointCanonical !== undefined) {
    expect(file.toString()).toBe(wanted.afterRelease.checkpointCanonical);
  }
}

describe('golden 07 checkpoint', () => {
  for (const { name, input, expect: wanted } of loadTopic<Input, Expect>('07-checkpoint').cases) {
    test(name, async () => {
      if (input.op === 'write') await checkWrite({ identities: input.identities ?? [] }, wanted);
      else if (input.op === 'overwrite') await checkOverwrite(input, wanted);
      else checkRestore({ ...input, kind: input.kind ?? 'file' }, input.options ?? {}, wanted);
    });
  }
});
