import { defineConfig } from 'vitest/config';

const shared = { disableConsoleIntercept: true, testTimeout: 60_000, hookTimeout: 120_000 };

/** Ids of BPF objects and times are global to the machine: these files run one after the other. */
const alone = { fileParallelism: false, testTimeout: 120_000 };

export default defineConfig({
  test: {
    projects: [
      { test: { ...shared, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { ...shared, name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { ...shared, name: 'golden', include: ['test/golden/**/*.test.ts'] } },
      { test: { ...shared, name: 'cli', include: ['test/cli/**/*.test.ts'], testTimeout: 60_000 } },
      { test: { ...shared, ...alone, name: 'privileged', include: ['test/privileged/**/*.privileged.test.ts'] } },
      { test: { ...shared, ...alone, name: 'speed', include: ['test/speed/**/*.test.ts'] } },
    ],
  },
});
