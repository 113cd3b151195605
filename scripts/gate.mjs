/**
 * `npm test`: everything that has to hold before a change is accepted. Runs all steps whatever they find (only without a
 * build there is nothing to test), names those that failed, and ends with one line that counts all tests.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const inCi = process.env.CI === 'true';
const isRoot = process.getuid?.() === 0;
const reports = mkdtempSync(path.join(tmpdir(), 'ipc-gate-'));
const counts = { passed: 0, failed: 0, skipped: 0 };

const steps = [
  command('build', 'node', ['scripts/build.mjs']),
  command('types', 'npx', ['tsc', '--noEmit']),
  command('lint', 'npx', ['biome', 'check', '.']),
  command('imports', 'node', ['scripts/check-imports.mjs']),
  command('documents', 'node', ['scripts/usage.mjs', '--check']),
  tests('unit'),
  tests('golden'),
  tests('fuzz'),
  tests('cli'),
  ...(isRoot || inCi ? [tests('privileged', { noSkips: inCi })] : []),
  tests('speed'),
];

const failed = [];
for (const step of steps) {
  const started = process.hrtime.bigint();
  process.stdout.write(`\n== ${step.name}\n`);
  const failure = step.run();
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  process.stdout.write(`== ${step.name}: ${failure ?? 'ok'} (${seconds.toFixed(1)} s)\n`);
  if (failure !== undefined) failed.push(`${step.name}: ${failure}`);
  if (failure !== undefined && step.name === 'build') break;
}
rmSync(reports, { recursive: true, force: true });
if (!isRoot) process.stdout.write('\nNot root: the tests against the real kernel were left out.\n');
for (const line of failed) process.stdout.write(`\nFAILED ${line}`);
process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exit(failed.length === 0 ? 0 : 1);

/** @returns a step; its `run()` gives the reason of a failure, or undefined */
function command(name, program, args) {
  return {
    name,
    run: () => (spawnSync(program, args, { stdio: 'inherit' }).status === 0 ? undefined : 'failed'),
  };
}

function tests(project, { noSkips = false } = {}) {
  const report = path.join(reports, `${project}.json`);
  const args = [
    'vitest',
    'run',
    '--project',
    project,
    '--reporter',
    'dot',
    '--reporter',
    'json',
    `--outputFile.json=${report}`,
  ];
  return {
    name: project,
    run() {
      const { status } = spawnSync('npx', args, { stdio: 'inherit' });
      const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
        readFileSync(report, 'utf8'),
      );
      const skipped = numPendingTests + numTodoTests;
      counts.passed += numPassedTests;
      counts.failed += numFailedTests;
      counts.skipped += skipped;
      if (status !== 0) return 'failed';
      if (numPassedTests === 0) return 'no test ran';
      return noSkips && skipped > 0 ? `${skipped} skipped, and in CI none may be` : undefined;
    },
  };
}
