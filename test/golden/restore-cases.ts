/** One test for each case of topics 10 and 13, on maps that the caller makes. */
import { expect, test } from 'vitest';
import { comparable } from './cache-compare.ts';
import { loadTopic } from './load.ts';
import {
  type CaseMaps,
  type ExpectedRestoreStep,
  type RestoreExpect,
  RestoreHarness,
  type RestoreInput,
} from './restore-harness.ts';

export const RESTORE_TOPICS = ['10-restore', '13-restore-v1'] as const;

export function testRestoreTopic(topic: string, open: (input: RestoreInput) => CaseMaps & Disposable): void {
  for (const { name, input, expect: expected } of loadTopic<RestoreInput, RestoreExpect>(topic).cases) {
    test(name, async () => {
      using maps = open(input);
      using harness = new RestoreHarness(input, maps);
      if (expected.anyOf === undefined) return await check(harness, input, expected.steps ?? []);
      const seen: unknown[] = [];
      for (const step of input.steps) seen.push(comparable(await harness.run(step)));
      const alternatives = expected.anyOf.map(({ steps }) => steps.map(comparable));
      expect(alternatives).toContainEqual(seen);
    });
  }
}

async function check(harness: RestoreHarness, input: RestoreInput, expected: readonly ExpectedRestoreStep[]) {
  for (const [i, step] of input.steps.entries()) {
    // The agent crashed here and went no further; ours says what is wrong with the file and goes on.
    if (expected[i]?.panic !== undefined) {
      expect(await harness.run(step)).toMatchObject({ result: { error: expect.stringContaining('null') } });
      return;
    }
    expect(comparable(await harness.run(step)), `step ${i} ${step.op}`).toEqual(comparable(expected[i]));
  }
}
