/** `ipc release --wait` on a terminal, into a log, and interrupted. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import Release from '../../../src/commands/release.ts';
import Restore from '../../../src/commands/restore.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { loadProgram } from '../../support/load-program.ts';
import { Site } from '../../support/restore-site.ts';

const ENTRIES = [
  { prefix: '198.51.100.0/24', identity: 16777220 },
  { prefix: '203.0.113.0/24', identity: 16777221 },
];
let program: InstalledProgram;
let site: Site;
beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());
beforeEach(async () => {
  site = new Site('wait');
  site.map(ENTRIES);
  await restoreNow();
  // A source that has nothing of a kind does not speak for it: this one has another local prefix.
  const other = JSON.stringify({ op: 'upsert', prefix: '192.0.2.0/24', identity: 16777300, source: 'generated' });
  writeFileSync(site.file('claims'), `${other}\n{"op":"synced"}\n`);
});
afterEach(() => site[Symbol.dispose]());

const restoreNow = () =>
  site.report(Restore, ['--map', site.pin, '--allocator-state', site.allocator('null')], 0, { now: Date.now() });
const argv = (...more: string[]): string[] => [
  ...['release', '--state-dir', site.stateDir, '--claims', `ndjson:${site.file('claims')}`, '--wait', ...more],
];

/** Begins the line anew. */
const CLEAR = '\r\x1b[K';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function ending(child: ChildProcessWithoutNullStreams): { readonly seen: () => string; readonly end: Promise<Ended> } {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const end = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
  return { seen: () => stdout + stderr, end };
}

/** Standard error is a terminal, standard output a file. */
function onTerminal(...more: string[]) {
  const quoted = [process.execPath, program.bin, ...argv(...more)].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `${quoted} > '${site.file('out')}'`, '/dev/null']);
  return { child, ...ending(child) };
}

async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo, { timeout: 15_000, interval: 20 }).toBe(true);
}

const remaining = async (): Promise<number> => Object.keys(await site.numbers()).length;

describe('ipc release --wait', () => {
  it('counts down in one line that is rewritten, and clears it, where standard error is a terminal', async () => {
    const { end } = onTerminal('--grace-period', '3s');
    const { code, stdout: terminal } = await end;
    expect(code, terminal).toBe(0);
    const lines = terminal.split('\n').filter((line) => line.includes('placeholders end'));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.replaceAll(CLEAR, '<')).toMatch(/^(<placeholders end in [1-3] s){2,3}</);
    expect(readFileSync(site.file('out'), 'utf8')).toMatch(/^done: .* deleted 2, freed 2$/m);
    expect(await remaining()).toBe(0);
  });

  it('says once how long it takes where it is a pipe, as JSON too, and nothing with -q', async () => {
    for (const [more, said] of [
      [[], /^placeholders end in 1 s$/m],
      [['--json'], /^\{"level":"info","message":"placeholders end in 1 s"\}$/m],
      [['-q'], undefined],
    ] as const) {
      await restoreNow();
      const { code, stderr } = await ending(program.start(argv('--grace-period', '1s', ...more))).end;
      expect(code, stderr).toBe(0);
      expect(stderr).not.toContain('\x1b');
      expect(stderr.split('placeholders end')).toHaveLength(said === undefined ? 1 : 2);
      if (said !== undefined) expect(stderr).toMatch(said);
    }
  });

  it('released by nobody when it is interrupted, with 130 from a terminal and 143 when it is told to end', async () => {
    const state = site.stateText;
    const { child, seen, end } = onTerminal();
    await until(() => seen().includes('placeholders end'));
    child.stdin.write('\x03');
    const { code, stdout: terminal } = await end;
    expect(code, terminal).toBe(130);
    // The line is cleared; nothing else is said.
    expect(terminal.endsWith(CLEAR)).toBe(true);
    expect(readFileSync(site.file('out'), 'utf8')).toBe('');

    const piped = program.start(argv());
    const { seen: log, end: ended } = ending(piped);
    await until(() => log().includes('placeholders end'));
    piped.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143, stdout: '' });

    expect(site.stateText).toBe(state);
    expect(await remaining()).toBe(2);
  });

  it('lets another restore begin while it waits, and waits for the end of that one', async () => {
    const waiting = program.start(argv('--grace-period', '3s', '--json'));
    const { seen, end } = ending(waiting);
    await until(() => seen().includes('placeholders end'));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await restoreNow();
    const again = Date.now();
    const { code, stdout, stderr } = await end;
    expect(code, stderr).toBe(0);
    expect(stderr.split('placeholders end')).toHaveLength(3);
    const report = JSON.parse(stdout);
    expect(Date.parse(report.released)).toBeGreaterThanOrEqual(again + 2_900);
    expect(report.released >= report.releaseAt).toBe(true);
  });

  it('is refused before it waits where an agent owns the map', async () => {
    using map = openPin(site.pin, { kernel: site.kernel, write: true });
    using _program = loadProgram(site.kernel, { fd: map.fd, keyBytes: map.info.keyBytes }, 'cil_test');
    const began = Date.now();
    const { exitCode } = await site.run(Release, ['--wait'], { now: Date.now() });
    expect(exitCode).toBe(13);
    expect(Date.now() - began).toBeLessThan(10_000);
  });
});
