import { describe, expect, it } from 'vitest';
import { EPERM } from '../../../src/lib/bpf/errno.ts';
import { openIpcacheMap } from '../../../src/lib/bpf/open-ipcache-map.ts';
import { openMap } from '../../../src/lib/bpf/open-map.ts';
import { BPF_MAP_GET_FD_BY_ID, BPF_MAP_GET_NEXT_ID, BPF_PROG_GET_NEXT_ID } from '../../../src/lib/bpf/uapi.ts';
import { EXIT, NotPermittedError } from '../../../src/lib/errors.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';

function kernelWithMaps(...names: readonly string[]) {
  const kernel = new FakeKernel();
  for (const name of names) kernel.createMap({ name }).map[Symbol.dispose]();
  return kernel;
}

describe('openMap()', () => {
  it('opens by id, and says when nothing has it', () => {
    const kernel = kernelWithMaps('a', 'b');
    using map = openMap({ kind: 'id', id: 2 }, { kernel });
    expect([map.info.name, map.label]).toEqual(['b', 'map id 2']);
    expect(() => openMap({ kind: 'id', id: 3 }, { kernel })).toThrow(
      expect.objectContaining({ exitCode: EXIT.notFound, code: 'MAP_NOT_FOUND' }),
    );
  });

  it('opens by a name, also one longer than the kernel keeps', () => {
    const kernel = kernelWithMaps('cilium_ipcache', 'cilium_ipcache_v2');
    using map = openMap({ kind: 'name', name: 'cilium_ipcache_v2' }, { kernel });
    expect(map.info.id).toBe(2);
    expect(() => openMap({ kind: 'name', name: 'cilium' }, { kernel })).toThrow('no map is called cilium');
  });

  it('refuses a name that several maps have, listing the ids', () => {
    const kernel = kernelWithMaps('x', 'other', 'x');
    expect(() => openMap({ kind: 'name', name: 'x' }, { kernel })).toThrow(
      expect.objectContaining({
        exitCode: EXIT.ambiguous,
        code: 'AMBIGUOUS_MAP',
        message: expect.stringMatching(/2 maps are called x: id 1 .*; id 3 /),
      }),
    );
    expect(kernel.openDescriptors).toBe(0);
  });

  it('op 50 says what ids, names and programs need', () => {
    for (const [ref, cmd] of [
      [{ kind: 'id', id: 1 }, BPF_MAP_GET_FD_BY_ID],
      [{ kind: 'name', name: 'x' }, BPF_MAP_GET_NEXT_ID],
      [{ kind: 'datapath' }, BPF_PROG_GET_NEXT_ID],
    ] as const) {
      const kernel = kernelWithMaps('x');
      kernel.missing.set(cmd, EPERM);
      const call = () => openMap(ref, { kernel });
      expect(call).toThrow(NotPermittedError);
      expect(call).toThrow(expect.objectContaining({ hint: expect.stringContaining('CAP_SYS_ADMIN') }));
    }
  });
});

describe('openIpcacheMap()', () => {
  it('op 28 refuses another kind of map and closes it', () => {
    const kernel = new FakeKernel();
    kernel.createMap({ valueBytes: 16 }).map[Symbol.dispose]();
    expect(() => openIpcacheMap({ kind: 'id', id: 1 }, { kernel })).toThrow(
      expect.objectContaining({ exitCode: EXIT.ambiguous, code: 'NOT_AN_IPCACHE' }),
    );
    expect(kernel.openDescriptors).toBe(0);
  });

  it('opens the map that the user named without a choice to tell', () => {
    const kernel = kernelWithMaps('x');
    const { map, choice } = openIpcacheMap({ kind: 'id', id: 1 }, { kernel });
    expect([map.info.id, choice]).toEqual([1, undefined]);
    map[Symbol.dispose]();
  });
});
