import { describe, expect, test } from 'vitest';
import { comparable, withoutMarks } from './cache-compare.ts';
import { CacheHarness, type GoldenOptions } from './cache-harness.ts';
import { type GoldenStep, runStep } from './cache-steps.ts';
import { loadTopic } from './load.ts';
import { type ExpectedStep, whyOursDiffers } from './upstream-differences.ts';

interface Input {
  readonly options?: GoldenOptions;
  readonly steps: readonly GoldenStep[];
  readonly selectorAllocatorClaims?: readonly string[];
  readonly k8sCacheSynced?: boolean;
}

interface Expect {
  readonly steps: readonly ExpectedStep[];
}

const { cases } = loadTopic<Input, Expect>('09-metadata');

/** Where ours is meant to be different, and the first reason; everything else is the same in both modes. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'source falls with the same labels stays high in the entry': 'attributes of a resource that left stay',
  'attributes of a lower source are not applied while the identity stays': 'attributes of a resource that left stay',
  'conflicting endpoint flags': 'attributes of a resource that left stay',
  'host labels aggregate over prefixes': 'attributes of a resource that left stay',
  'conflicting encrypt keys': 'what was told is not what is kept',
  'encrypt key needs a tunnel peer to be stored': 'what was told is not what is kept',
  're-injection repeats the event when the key has no tunnel peer': 'what was told is not what is kept',
  'legacy key without host is dropped': 'what was told is not what is kept',
  'shadowing: a shorter cidr deleted under an endpoint at its address suppresses the event':
    'what was told is not what is kept',
  'legacy endpoint': 'an event without a change',
  'legacy source precedence': 'a value of another owner is forgotten',
  'metadata over legacy, metadata leaves first': 'a value of another owner is forgotten',
  'metadata with the legacy labels': 'a value of another owner is forgotten',
  'metadata with other labels and a lower source is forced over legacy': 'a value of another owner is forgotten',
  'legacy over metadata, higher source': 'a value of another owner is forgotten',
  'legacy over metadata, lower then higher': 'a value of another owner is forgotten',
};

function newHarness(input: Input, strictUpstream: boolean): CacheHarness {
  return new CacheHarness({
    strictUpstream,
    options: input.options,
    claims: input.selectorAllocatorClaims,
    isReady: input.k8sCacheSynced,
  });
}

describe('09-metadata with strictUpstream', () => {
  for (const { name, input, expect: expected } of cases) {
    test(name, () => {
      const harness = newHarness(input, true);
      for (const [i, step] of input.steps.entries()) {
        expect(comparable(runStep(harness, step)), `step ${i} ${step.op}`).toEqual(comparable(expected.steps[i]));
      }
    });
  }
});

describe('09-metadata', () => {
  for (const { name, input, expect: expected } of cases) {
    const reason = whyOursDiffers(input.steps, expected.steps);
    test(name, () => {
      const harness = newHarness(input, false);
      const isSame = input.steps.map((step, i) => {
        const ours = withoutMarks(runStep(harness, step));
        harness.checkInvariants();
        if (reason === undefined) expect(ours, `step ${i} ${step.op}`).toEqual(withoutMarks(expected.steps[i]));
        return JSON.stringify(ours) === JSON.stringify(withoutMarks(expected.steps[i]));
      });
      if (name in DIFFERENT) expect(reason).toBe(DIFFERENT[name]);
      else if (reason !== undefined && isSame.includes(false)) expect(process.env.IPC_GOLDEN_DIR).toBeDefined();
    });
  }
});
