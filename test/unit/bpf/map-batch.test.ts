import { describe, expect, it } from 'vitest';
import { EINTR, EINVAL, ENOENT, ENOSPC, ENOTSUPP } from '../../../src/lib/bpf/errno.ts';
import { BpfMap } from '../../../src/lib/bpf/map.ts';
import { KernelFeatureError } from '../../../src/lib/errors.ts';
import { ScriptedKernel } from '../../support/scripted-kernel.ts';

const ROOM = 8;

/** A map whose batches answer the given results in turn: the kernel's answer and the count it leaves behind. */
function mapAnswering(...answers: readonly (readonly [ret: number, count: number | undefined])[]) {
  const kernel: ScriptedKernel = new ScriptedKernel((_, attr) => {
    const [ret, count] = answers[Math.min(kernel.calls.length, answers.length) - 1] ?? [0, 0];
    if (count !== undefined) attr.u32(32, count);
    return ret;
  });
  const info = { id: 1, type: 11, keyBytes: 4, valueBytes: 4, maxEntries: 9, flags: 1, name: '' };
  const map = new BpfMap({ kernel, fd: 3, info });
  const read = () =>
    map.lookupBatch(undefined, new Uint8Array(4), new Uint8Array(4 * ROOM), new Uint8Array(4 * ROOM), ROOM);
  return { kernel, map, read };
}

describe('MapBatch', () => {
  it('lookup() gives a full batch, and a last one that the kernel reports as ENOENT with its count', async () => {
    expect(await mapAnswering([0, ROOM]).read()).toEqual({ count: ROOM, end: false });
    expect(await mapAnswering([-ENOENT, 3]).read()).toEqual({ count: 3, end: true });
    expect(await mapAnswering([-ENOENT, 0]).read()).toEqual({ count: 0, end: true });
  });

  it('lookup() takes an interrupted batch with entries for a short one', async () => {
    expect(await mapAnswering([-EINTR, 2]).read()).toEqual({ count: 2, end: false });
  });

  it('lookup() repeats an interrupted batch without entries, with all its room, and gives up some time', async () => {
    const again = mapAnswering([-EINTR, 0], [-EINTR, undefined], [0, ROOM]);
    expect(await again.read()).toEqual({ count: ROOM, end: false });
    expect(again.kernel.calls.length).toBe(3);
    expect(await mapAnswering([-EINTR, 0]).read()).toEqual({ count: 0, end: false });
  });

  it.each([EINVAL, ENOTSUPP])('op 51 lookup() answers errno %i with the missing feature', async (errno) => {
    await expect(mapAnswering([-errno, undefined]).read()).rejects.toThrow(KernelFeatureError);
  });

  it('lookup() passes both cursors, both buffers, room and descriptor', async () => {
    const { map, kernel } = mapAnswering([0, 1]);
    const [cursorIn, cursorOut, keys, values] = [1, 2, 3, 4].map((n) => new Uint8Array(4 * ROOM).fill(n));
    if (cursorIn && cursorOut && keys && values) await map.lookupBatch(cursorIn, cursorOut, keys, values, ROOM);
    const attr = kernel.calls[0]?.attr;
    expect([...(attr?.pointers ?? [])]).toEqual(
      expect.arrayContaining([
        [0, cursorIn],
        [8, cursorOut],
        [16, keys],
        [24, values],
      ]),
    );
    expect([attr?.getU32(36), attr?.size]).toEqual([3, 56]);
  });

  it('updateBatch() and deleteBatch() count what was done before the first failure', async () => {
    const buffer = new Uint8Array(4 * ROOM);
    expect(mapAnswering([0, ROOM]).map.updateBatch(buffer, buffer, ROOM)).toEqual({ done: ROOM });
    expect(mapAnswering([-ENOSPC, 5]).map.updateBatch(buffer, buffer, ROOM)).toEqual({ done: 5, errno: ENOSPC });
    expect(mapAnswering([-ENOENT, 0]).map.deleteBatch(buffer, ROOM)).toEqual({ done: 0, errno: ENOENT });
    expect(await mapAnswering([-ENOSPC, 1]).map.updateBatchAsync(buffer, buffer, ROOM)).toEqual({
      done: 1,
      errno: ENOSPC,
    });
  });

  it('op 51 a write that the kernel refuses before counting did nothing', () => {
    const buffer = new Uint8Array(4 * ROOM);
    expect(mapAnswering([-EINVAL, undefined]).map.updateBatch(buffer, buffer, ROOM)).toEqual({
      done: 0,
      errno: EINVAL,
    });
  });
});
