/**
 * Restore and release killed at every call that changes something: what is left is old or new, and the next run ends well.
 * All points, more than 200, take a minute or two; without IPC_TEST_SECONDS of 600 or more it stops after 45 seconds,
 * having gone through all scenes evenly, so that only a slow or a busy machine does not come to all of them.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCheckpoint } from '../../../src/lib/state/read-checkpoint.ts';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { type KillPoint, killPoints, runKilled } from '../../support/kill-points.ts';
import { makeFiles, SCENES, type Scene } from '../../support/kill-scenes.ts';
import { Site } from '../../support/restore-site.ts';

const IS_LONG = Number(process.env.IPC_TEST_SECONDS ?? 30) >= 600;
const WANTED = 200;
const BUDGET_MS = 45_000;
/** What even a slow machine comes to in that time. */
const LEAST = 60;

let program: InstalledProgram;
/** Two commands at once where there is a core for each: in pin directories of their own. */
const sites: Site[] = [];

beforeAll(async () => {
  program = installProgram();
  for (let i = 0; i < Math.min(4, Math.max(2, availableParallelism())); i++) sites.push(new Site(`kill-${i}`));
  for (const site of sites) await makeFiles(site);
});
afterAll(() => {
  for (const site of sites) site[Symbol.dispose]();
  program[Symbol.dispose]();
});

interface Kill {
  readonly scene: Scene;
  readonly point: KillPoint;
}

function commandLine({ name, argv }: Scene, site: Site): string[] {
  const [word = ''] = name.split(' ');
  return [process.execPath, program.bin, word, ...argv(site), '--state-dir', site.stateDir, '--json'];
}

async function pointsOf(scene: Scene, site: Site): Promise<Kill[]> {
  scene.prepare(site);
  const own = [site.directory, site.pins];
  const { end, points } = await killPoints(commandLine(scene, site), own, site.file('strace.log'));
  expect(end.status, `${scene.name}: ${end.stderr}`).toBe(0);
  scene.ends(await site.numbers(scene.pin(site)), site);
  return spread(points).map((point) => ({ scene, point }));
}

/** The same points in an order of which any beginning covers the whole. */
function spread<T>(points: readonly T[]): T[] {
  const keyed = points.map((point, i) => ({ point, at: (i * 0.618034) % 1 }));
  return keyed.sort((a, b) => a.at - b.at).map(({ point }) => point);
}

/** The first of each list, then the second of each. */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** @returns whether it was killed: a run that came to its end before the point says nothing */
async function kill({ scene, point }: Kill, site: Site): Promise<boolean> {
  scene.prepare(site);
  const { status, signal, stderr } = await runKilled(commandLine(scene, site), point);
  if (signal !== 'SIGKILL') expect(status, stderr).toBe(0);
  const pin = scene.pin(site);
  scene.holds(existsSync(pin) ? await site.numbers(pin) : undefined, site);
  expect(() => readCheckpoint(site.stateDir)).not.toThrow();
  const again = await site.run(scene.command, scene.argv(site));
  expect(again.exitCode, again.stderr).toBe(0);
  scene.ends(await site.numbers(pin), site);
  return signal === 'SIGKILL';
}

describe('killed at any call, the map and the state are old or new', () => {
  const kills = new Map<string, number>();

  it('and the next run ends well', async () => {
    const [first] = sites;
    if (first === undefined) throw new Error('no site');
    const lists: Kill[][] = [];
    for (const scene of SCENES) lists.push(await pointsOf(scene, first));
    const queue = inTurn(lists);
    if (IS_LONG) expect(queue.length).toBeGreaterThanOrEqual(WANTED);
    const until = IS_LONG ? Number.POSITIVE_INFINITY : Date.now() + BUDGET_MS;
    const work = async (site: Site): Promise<void> => {
      for (let next = queue.shift(); next !== undefined && Date.now() < until; next = queue.shift()) {
        const { scene, point } = next;
        try {
          if (await kill(next, site)) kills.set(scene.name, (kills.get(scene.name) ?? 0) + 1);
        } catch (cause) {
          queue.length = 0;
          throw new Error(`${scene.name}, killed at ${point.call} ${point.n}: ${String(cause)}`, { cause });
        }
      }
    };
    await Promise.all(sites.map(work));
  }, 600_000);

  it('in every scene, and often enough', () => {
    expect([...kills.keys()].sort()).toEqual(SCENES.map(({ name }) => name).sort());
    const total = [...kills.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThanOrEqual(IS_LONG ? WANTED : LEAST);
  });
});
