import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BundledScript, bundleScript } from '../support/bundle-script.ts';
import { expectFits } from '../support/schemas.ts';

let script: BundledScript;
beforeAll(() => {
  script = bundleScript('odd-ends');
});
afterAll(() => script[Symbol.dispose]());

describe('a command that', () => {
  it.each([
    ['never settles', 70, 'the run ended before it was done'],
    ['throws in a callback', 70, 'late'],
    ['rejects unseen', 70, 'unseen'],
    ['warns through Node', 0, 'old'],
    ['leaves a handle open', 0, undefined],
  ])('%s ends with %d', (way, status, message) => {
    const run = (...argv: string[]) =>
      spawnSync(process.execPath, [script.path, 'odd', '--map', way, ...argv], { encoding: 'utf8', timeout: 20_000 });
    const text = run();
    expect({ status: text.status, stdout: text.stdout }).toEqual({ status, stdout: status === 0 ? '"done"\n' : '' });
    const prefix = status === 0 ? 'Warning' : 'Error';
    expect(text.stderr.split('\n')[0]).toBe(message === undefined ? '' : `${prefix}: ${message}`);

    const json = run('--json');
    expect(json.status).toBe(status);
    if (message === undefined) return;
    const line = JSON.parse(json.stderr);
    expectFits(status === 0 ? 'log-line' : 'error', line);
    expect(line.message ?? line.error.message).toBe(message);
  });
});
