import { describe, expect, it } from 'vitest';
import { EEXIST, ENOSPC } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_UPDATE_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { applyDelete, planDelete } from '../../../src/lib/change/delete-entries.ts';
import { applySet, planSet, type SetRequest } from '../../../src/lib/change/set-entry.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { IpcacheMap } from '../../../src/lib/ipcache/ipcache-map.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { entriesOf } from '../../support/map-words.ts';
import { entryBytes } from '../../support/pinned-ipcache.ts';

function given(...entries: readonly (readonly [string, number])[]) {
  const kernel = new FakeKernel();
  const { map, fake } = kernel.createMap({ maxEntries: 2 });
  const put = (prefix: string, identity: number): void => {
    const { key, value } = entryBytes('v2', { prefix, identity });
    fake.store.update(key, value);
  };
  for (const [prefix, identity] of entries) put(prefix, identity);
  const layout = layoutNamed('v2');
  const ipcache = new IpcacheMap(map, { layout, by: 'size', candidates: [layout] });
  const request = (prefix: string, identity: number): SetRequest => ({
    prefix: parsePrefix(prefix),
    endpoint: { identity: numericIdentity(identity) },
  });
  return { kernel, map, fake, put, ipcache, request };
}

describe('applySet()', () => {
  it('op 53: an entry of a full map is changed with a gap only when that is allowed', async () => {
    const { kernel, map, fake, ipcache, request } = given(['10.0.0.1/32', 5], ['10.0.0.2/32', 6]);
    const plan = await planSet(ipcache, request('10.0.0.1', 7));
    kernel.fail(BPF_MAP_UPDATE_ELEM, ENOSPC);
    expect(() => applySet(map, plan)).toThrow(
      expect.objectContaining({ exitCode: 13, code: 'FULL_IN_PLACE', hint: expect.stringContaining('--allow-gap') }),
    );
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=5', '10.0.0.2/32=6']);
    kernel.fail(BPF_MAP_UPDATE_ELEM, ENOSPC);
    applySet(map, plan, { allowGap: true });
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=7', '10.0.0.2/32=6']);
  });

  it('a new entry of a full map is refused by the kernel, gap or not', async () => {
    const { map, ipcache, request, fake } = given(['10.0.0.1/32', 5], ['10.0.0.2/32', 6]);
    const plan = await planSet(ipcache, request('10.0.0.3', 7));
    expect(() => applySet(map, plan, { allowGap: true })).toThrow(
      expect.objectContaining({ code: 'MAP_FULL', exitCode: 1 }),
    );
    expect(entriesOf(fake)).toHaveLength(2);
  });

  it('refuses when somebody was faster', async () => {
    const { kernel, map, ipcache, request, put, fake } = given();
    const plan = await planSet(ipcache, request('10.0.0.1', 7));
    put('10.0.0.1/32', 9);
    expect(() => applySet(map, plan, { must: 'create' })).toThrow(expect.objectContaining({ code: 'ENTRY_EXISTS' }));
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=9']);
    const other = await planSet(ipcache, { ...request('10.0.0.1', 7), must: 'replace' });
    fake.store.delete(other.key);
    expect(() => applySet(map, other, { must: 'replace' })).toThrow(expect.objectContaining({ code: 'NO_SUCH_ENTRY' }));
    kernel.fail(BPF_MAP_UPDATE_ELEM, EEXIST);
    expect(() => applySet(map, plan)).toThrow(expect.objectContaining({ exitCode: 13 }));
  });
});

describe('applyDelete()', () => {
  it('leaves an entry that changed since it was looked at', async () => {
    const { map, ipcache, put, fake } = given(['10.0.0.1/32', 5]);
    const [plan] = await planDelete(ipcache, { prefixes: [parsePrefix('10.0.0.1')], ignoreNotFound: false });
    if (plan === undefined) throw new Error('no plan');
    put('10.0.0.1/32', 9);
    expect(await applyDelete(map, plan)).toBe(false);
    expect(entriesOf(fake)).toEqual(['10.0.0.1/32=9']);
  });
});
