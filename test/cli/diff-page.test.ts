/** The page of `ipc diff --html` in a real browser, where one is installed (Debian: chromium). */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Diff from '../../src/commands/diff.ts';
import { runCommand } from '../support/run-command.ts';
import { type SnapshotParts, snapshotText } from '../support/snapshot-lines.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];
const EVIL = '<script>document.title="stolen"</script><img src=x onerror="document.title=1">&amp;';

let dir: string;
let page: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ipc-page-'));
  page = join(dir, 'report.html');
  const before = join(dir, 'before');
  const after = join(dir, 'after');
  writeFileSync(before, snapshotText(parts(16777217, 3)));
  writeFileSync(after, snapshotText(parts(16777300, 0)));
  await runCommand(Diff, [before, after, '--html', page]);
});
afterAll(() => rmSync(dir, { recursive: true }));

function parts(first: number, encryptKey: number): SnapshotParts {
  const numbers = Array.from({ length: 40 }, (_, i) => i);
  return {
    header: { node: EVIL },
    identities: [{ identity: first, labels: [`fqdn:${EVIL}`] }],
    entries: [
      ...numbers.map((i) => ({
        prefix: `10.0.${i}.0/24`,
        family: 'ipv4' as const,
        identity: first + i,
        encryptKey: 0,
        flags: 0,
      })),
      ...numbers.map((i) => ({
        prefix: `fd00:${i + 1000}::/64`,
        family: 'ipv6' as const,
        identity: 300,
        encryptKey,
        flags: 0,
      })),
    ],
  };
}

/** The document as the browser has it after it ran everything that it was willing to run. */
function domOf(file: string): string {
  const argv = [...FLAGS, `--user-data-dir=${join(dir, 'profile')}`, '--dump-dom', `file://${file}`];
  return execFileSync(CHROMIUM ?? '', argv, { encoding: 'utf8', timeout: 60_000, stdio: ['ignore', 'pipe', 'ignore'] });
}

describe.skipIf(CHROMIUM === undefined)('ipc diff --html in a browser', () => {
  it('has every finding as a row, the pictures, and what others wrote as text only', () => {
    const dom = domOf(page);
    expect(dom).toContain('<title>ipc diff: 80 findings</title>');
    expect(dom.match(/<tr class="(high|medium|low)">/g)).toHaveLength(80);
    expect(dom.match(/<svg /g)?.length).toBeGreaterThanOrEqual(2);
    expect(dom.match(/<title>10\.0\.\d+\.0\/\d+: \d+ renumbered<\/title>/g)?.length).toBeGreaterThan(10);
    expect(dom).not.toMatch(/<script|<img/);
    expect(dom).toContain('&lt;script&gt;document.title=');
  });
});
