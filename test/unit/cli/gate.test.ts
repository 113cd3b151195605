import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { gateError, leastSeverity, passGate } from '../../../src/lib/cli/gate.ts';
import type { Log } from '../../../src/lib/cli/log.ts';
import { FailedError, UnreachableError } from '../../../src/lib/errors.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Answer = number | Error;

/** Runs a gate over a script: what the check answers at each second, the last answer from then on. */
async function run(script: readonly Answer[], times: { waitMs?: number; holdMs?: number }, abortAt?: number) {
  const began = Date.now();
  const seconds = (): number => Math.round((Date.now() - began) / 1000);
  const said: string[] = [];
  const abort = new AbortController();
  if (abortAt !== undefined) setTimeout(() => abort.abort(), abortAt);
  let rounds = 0;
  const result = passGate<number>({
    check: async () => {
      rounds++;
      const answer = script[Math.min(seconds(), script.length - 1)] ?? 0;
      if (typeof answer !== 'number') throw answer;
      return answer;
    },
    failures: (model) => model,
    signal: abort.signal,
    logger: { info: (text: string) => said.push(text) } as unknown as Log,
    now: () => Date.now(),
    ...times,
  }).then(
    ({ failures }) => failures,
    (error: Error) => error.message,
  );
  await vi.runAllTimersAsync();
  return { outcome: await result, seconds: seconds(), rounds, said };
}

const unreachable = new UnreachableError('Cannot ask');

describe('passGate()', () => {
  it('checks once when it need neither wait nor hold', async () => {
    expect(await run([0, 9], {})).toEqual({ outcome: 0, seconds: 0, rounds: 1, said: [] });
    expect(await run([2, 0], {})).toEqual({ outcome: 2, seconds: 0, rounds: 1, said: [] });
  });

  it('waits until it is clean, and no longer than it may', async () => {
    expect(await run([3, 3, 1, 0], { waitMs: 10_000 })).toEqual({
      outcome: 0,
      seconds: 3,
      rounds: 4,
      said: ['waiting: 3 findings', 'waiting: 1 finding'],
    });
    expect(await run([3, 3, 1], { waitMs: 4_500 })).toMatchObject({ outcome: 1, seconds: 5, rounds: 6 });
  });

  it('holds: fails at once when it does not stay clean', async () => {
    expect(await run([0], { holdMs: 5_000 })).toMatchObject({ outcome: 0, seconds: 5 });
    expect(await run([0, 0, 0, 4, 0], { holdMs: 5_000 })).toMatchObject({ outcome: 4, seconds: 3 });
    expect(await run([5, 0], { holdMs: 5_000 })).toMatchObject({ outcome: 5, seconds: 0 });
    expect(await run([5, 5, 0, 0, 7], { waitMs: 60_000, holdMs: 5_000 })).toMatchObject({ outcome: 7, seconds: 4 });
    expect(await run([5, 5, 0], { waitMs: 60_000, holdMs: 5_000 })).toMatchObject({ outcome: 0, seconds: 7 });
  });

  it('waits for a source that is away, and reports it when it stays away', async () => {
    expect(await run([unreachable, unreachable, 0], { waitMs: 9_000 })).toMatchObject({ outcome: 0, seconds: 2 });
    expect(await run([unreachable], { waitMs: 3_000 })).toMatchObject({ outcome: 'Cannot ask', seconds: 3 });
    expect(await run([unreachable], {})).toMatchObject({ outcome: 'Cannot ask', rounds: 1 });
    expect(await run([new FailedError('Cannot')], { waitMs: 3_000 })).toMatchObject({ outcome: 'Cannot', rounds: 1 });
  });

  it('forgives a gap while it holds, but not a long one', async () => {
    expect(await run([0, unreachable, unreachable, 0], { holdMs: 5_000 })).toMatchObject({ outcome: 0, seconds: 5 });
    expect(await run([0, unreachable], { holdMs: 60_000 })).toMatchObject({ outcome: 'Cannot ask', seconds: 4 });
  });

  it('stops waiting when it is interrupted', async () => {
    expect(await run([1], { waitMs: 60_000 }, 2_500)).toMatchObject({ outcome: 1, rounds: 4 });
  });
});

describe('leastSeverity()', () => {
  it('is the lowest of those given', () => {
    expect(leastSeverity(['high', 'low', 'medium'])).toBe('low');
    expect(leastSeverity([])).toBe('high');
  });
});

describe('gateError()', () => {
  it('has exit code 10 and the count', () => {
    expect(gateError('the check of this node', 2)).toMatchObject({
      exitCode: 10,
      message: 'Cannot pass the check of this node: 2 findings',
    });
  });
});
