import { describe, expect, it } from 'vitest';
import { EINVAL, ENOMEM, ENOTSUPP, EPERM } from '../../../src/lib/bpf/errno.ts';
import { Features, haveNextKeyRestart } from '../../../src/lib/bpf/features.ts';
import { BPF_MAP_CREATE, BPF_MAP_LOOKUP_BATCH } from '../../../src/lib/bpf/uapi.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';

describe('Features', () => {
  it('tells the two kinds of next-key apart', () => {
    expect(new Features({ kernel: new FakeKernel('since-6.13') }).have('lpmNextKey')).toMatchObject({
      outcome: 'available',
      minKernel: '6.13',
    });
    expect(new Features({ kernel: new FakeKernel('before-6.13') }).have('lpmNextKey').outcome).toBe('absent');
    expect(haveNextKeyRestart(new FakeKernel('since-6.13'))).toBe(true);
    expect(haveNextKeyRestart(new FakeKernel('before-6.13'))).toBe(false);
  });

  it.each([EINVAL, ENOTSUPP])('op 51 errno %i of a batch lookup means absent', (errno) => {
    const kernel = new FakeKernel();
    kernel.missing.set(BPF_MAP_LOOKUP_BATCH, errno);
    expect(new Features({ kernel }).have('lpmBatchLookup')).toMatchObject({ outcome: 'absent', minKernel: '5.13' });
    expect(new Features({ kernel: new FakeKernel() }).have('lpmBatchLookup').outcome).toBe('available');
  });

  it('says unknown where the probe itself fails, and asks again', () => {
    const kernel = new FakeKernel();
    kernel.fail(BPF_MAP_CREATE, EPERM).fail(BPF_MAP_CREATE, ENOMEM);
    const features = new Features({ kernel });
    expect(features.have('lpmNextKey')).toMatchObject({ outcome: 'unknown', reason: 'making a private map: EPERM' });
    expect(features.have('lpmNextKey').outcome).toBe('unknown');
    expect(features.have('lpmNextKey').outcome).toBe('available');
    expect(haveNextKeyRestart(new FakeKernel().fail(BPF_MAP_CREATE, EPERM))).toBeUndefined();
  });

  it('remembers what is conclusive', () => {
    const kernel = new FakeKernel();
    const features = new Features({ kernel });
    features.have('lpmNextKey');
    const created = kernel.calls.get(BPF_MAP_CREATE);
    features.have('lpmNextKey');
    expect(kernel.calls.get(BPF_MAP_CREATE)).toBe(created);
  });

  it('all() leaves no descriptor open and cannot try pins without a directory', () => {
    const kernel = new FakeKernel();
    const all = new Features({ kernel }).all();
    expect(all.map(({ name, outcome }) => [name, outcome])).toContainEqual(['pinExchange', 'unknown']);
    expect(all.length).toBe(5);
    expect(kernel.openDescriptors).toBe(0);
  });
});
