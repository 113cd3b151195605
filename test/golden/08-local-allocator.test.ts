import { describe, expect, test } from 'vitest';
import { RefusedError } from '../../src/lib/errors.ts';
import { CachingAllocator } from '../../src/lib/identity/caching-allocator.ts';
import { parseLabel } from '../../src/lib/identity/label.ts';
import { Labels } from '../../src/lib/identity/labels.ts';
import { labelsModel } from '../../src/lib/identity/labels-format.ts';
import { type AllocatorEvent, type Identity, LocalAllocator } from '../../src/lib/identity/local-allocator.ts';
import { numericIdentity } from '../../src/lib/identity/numeric-identity.ts';
import {
  cachingState,
  type GoldenOptions,
  goldenOptions,
  identityRow,
  labelTexts,
  localState,
} from './identity-cases.ts';
import { loadTopic } from './load.ts';

interface Op {
  readonly op: string;
  readonly labels?: readonly string[];
  readonly oldNID?: number;
  readonly id?: number;
  readonly ids?: readonly number[];
  readonly notifyOwner?: boolean;
}

interface Input {
  readonly kind: string;
  readonly scope?: number;
  readonly min?: number;
  readonly max?: number;
  readonly options?: GoldenOptions;
  readonly ops: readonly Op[];
}

interface Step {
  readonly logs?: unknown;
  readonly result: Record<string, unknown>;
}

interface Expect {
  readonly steps: readonly Step[];
  readonly anyOf?: Readonly<Record<string, readonly Step[]>>;
}

const labelsOf = ({ labels = [] }: Op): Labels => Labels.of(labels.map(parseLabel));
const idsOf = ({ ids = [] }: Op) => ids.map(numericIdentity);
const found = (identity: Identity | undefined) => ({ identity: identity === undefined ? null : identityRow(identity) });

/** The message after the colon is Cilium's own text. */
function failed(error: unknown): object {
  if (!(error instanceof RefusedError)) throw error;
  return { error: error.message.replace(/^.*?: /, ''), id: null, isNew: false };
}

function runLocal(allocator: LocalAllocator, op: Op): object {
  switch (op.op) {
    case 'allocate':
      try {
        const { identity, isNew } = allocator.lookupOrCreate(labelsOf(op), op.oldNID ?? 0);
        return { error: null, id: identity.id, isNew, refcount: identity.refCount };
      } catch (error) {
        return failed(error);
      }
    case 'release':
      return { released: allocator.release(op.id ?? 0) };
    case 'withhold':
      return { outOfScope: allocator.withhold(idsOf(op)) };
    case 'unwithhold':
      allocator.unwithhold(idsOf(op));
      return {};
    case 'lookup':
      return found(allocator.lookup(labelsOf(op)));
    case 'lookupByID':
      return found(allocator.lookupById(op.id ?? 0));
    case 'setNext':
      allocator.setNext(op.id ?? 0);
      return {};
    default:
      throw new Error(`unknown op ${op.op}`);
  }
}

function runCaching(allocator: CachingAllocator, op: Op): object {
  switch (op.op) {
    case 'allocateLocal':
      try {
        const { identity, isNew } = allocator.allocateLocalIdentity(labelsOf(op), {
          requested: op.oldNID ?? 0,
          notify: op.notifyOwner ?? false,
        });
        return { error: null, isNew, ...identityRow(identity) };
      } catch (error) {
        return failed(error);
      }
    case 'releaseLocal': {
      const { deallocated, nonLocal } = allocator.releaseLocalIdentities(idsOf(op));
      const errors = nonLocal.map((id) => `attempt to release non-local identity ${id}`);
      return { deallocated, error: errors.length === 0 ? null : errors.join('\n') };
    }
    case 'withhold':
      allocator.withhold(idsOf(op));
      return {};
    case 'unwithhold':
      allocator.unwithhold(idsOf(op));
      return {};
    case 'lookup':
      return found(allocator.lookup(labelsOf(op)));
    case 'lookupByID':
      return found(allocator.lookupById(op.id ?? 0));
    default:
      throw new Error(`unknown op ${op.op}`);
  }
}

function localSteps(input: Input): object[] {
  const events: AllocatorEvent[] = [];
  const { scope = 0, min = 0, max = 0 } = input;
  const allocator = new LocalAllocator({ scope, min, max, onEvent: (event) => events.push(event) });
  return input.ops.map((op) => {
    const result = runLocal(allocator, op);
    const rows = events.splice(0).map((event) => {
      return event.kind === 'delete' ? event : { ...event, labels: labelsModel(event.labels) };
    });
    return { result, ...localState(allocator), events: rows };
  });
}

function cachingSteps(input: Input): object[] {
  const updates: object[] = [];
  const allocator = new CachingAllocator({
    options: goldenOptions(input.options),
    onSelectorUpdate: ({ added, deleted }) =>
      updates.push({ added: labelTexts(added), deleted: [...deleted].sort((a, b) => a - b) }),
  });
  return input.ops.map((op) => {
    const result = runCaching(allocator, op);
    return { result, state: cachingState(allocator), selectorUpdates: updates.splice(0) };
  });
}

const withoutLogs = ({ logs: _logs, ...step }: Step): object => step;

describe('golden 08 local allocator', () => {
  for (const { name, input, expect: wanted } of loadTopic<Input, Expect>('08-local-allocator').cases) {
    test(name, () => {
      const steps = input.kind === 'localCache' ? localSteps(input) : cachingSteps(input);
      expect(steps).toHaveLength(wanted.steps.length);
      for (const [i, step] of steps.entries()) {
        const alternatives = wanted.anyOf?.[String(i)] ?? wanted.steps.slice(i, i + 1);
        expect(alternatives.map(withoutLogs)).toContainEqual(step);
      }
    });
  }
});
