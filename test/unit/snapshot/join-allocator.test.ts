import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MalformedError } from '../../../src/lib/errors.ts';
import { joinAllocator } from '../../../src/lib/snapshot/join-allocator.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ipc-join-'));
  path = join(dir, 'local_allocator_state.json');
});
afterEach(() => rmSync(dir, { recursive: true }));

const write = (...ids: number[]): void =>
  writeFileSync(
    path,
    JSON.stringify(
      ids.map((id) => ({
        id,
        labels: { [`10.0.0.${id & 255}/32`]: { key: `10.0.0.${id & 255}/32`, source: 'cidr' } },
      })),
    ),
  );

/** Joins with a map that has another state at each reading, and a checkpoint that changes while it is waited for. */
async function run(states: readonly (readonly number[])[], whileWaiting: (turn: number) => void = () => {}) {
  let readings = 0;
  let pauses = 0;
  const waits: number[] = [];
  const joined = await joinAllocator({
    path,
    capture: async () => new Set(states[Math.min(readings++, states.length - 1)]),
    allocated: (captured) => captured,
    pause: async () => whileWaiting(++pauses),
    onWait: (missing) => waits.push(missing),
  });
  return { ...joined, readings, pauses, waits };
}

describe('joinAllocator()', () => {
  it('takes everything that is in the file, by number, and does not wait when nothing is missing', async () => {
    write(16777219, 16777217, 16777217, 33554433, 41234);
    const { identities, readings, pauses, missing } = await run([[16777217]]);
    expect(identities).toEqual([
      { identity: 16777217, labels: ['cidr:10.0.0.1/32'] },
      { identity: 16777219, labels: ['cidr:10.0.0.3/32'] },
      { identity: 33554433, labels: ['cidr:10.0.0.1/32'] },
    ]);
    expect([readings, pauses, missing]).toEqual([1, 0, 0]);
  });

  it('reads map and file again whenever the file changes, until they agree', async () => {
    write(16777217);
    const result = await run(
      [
        [16777217, 16777218],
        [16777217, 16777218, 16777219],
        [16777218, 16777219],
      ],
      (turn) => {
        if (turn === 3) write(16777217, 16777218);
        if (turn === 5) write(16777217, 16777218, 16777219);
      },
    );
    expect(result).toMatchObject({ missing: 0, readings: 3, pauses: 5, waits: [1] });
    expect(result.captured).toEqual(new Set([16777218, 16777219]));
  });

  it('gives up after the time in which an agent would have written', async () => {
    write(16777217);
    const { missing, pauses, readings } = await run([[16777217, 16777218]]);
    expect([missing, readings]).toEqual([1, 1]);
    expect(pauses * 250).toBe(11_000);
  });

  it('does not wait for a file that is not there, and refuses a damaged one', async () => {
    expect(await run([[16777217]])).toMatchObject({ absent: true, missing: 1, pauses: 0, identities: [] });
    writeFileSync(path, '[{"id":');
    await expect(run([[16777217]])).rejects.toBeInstanceOf(MalformedError);
  });
});
