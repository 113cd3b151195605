import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bpffsMounts, bpffsRoots } from '../../../src/lib/bpf/bpffs.ts';
import { EXIT } from '../../../src/lib/errors.ts';

const line = (path: string, fsType: string, options = 'rw') => `1 2 0:1 / ${path} ${options} - ${fsType} none rw\n`;

describe('bpffsMounts()', () => {
  it('lists bpf filesystems only, the usual places first', () => {
    const text =
      line('/mnt/x', 'bpf') + line('/run/cilium/bpffs', 'bpf', 'ro') + line('/', 'ext4') + line('/sys/fs/bpf', 'bpf');
    expect(bpffsMounts(text)).toEqual([
      { path: '/sys/fs/bpf', stacked: 1, readOnly: false },
      { path: '/run/cilium/bpffs', stacked: 1, readOnly: true },
      { path: '/mnt/x', stacked: 1, readOnly: false },
    ]);
  });

  it('op 50 counts two bpf mounts on one path as stacked', () => {
    expect(bpffsMounts(line('/sys/fs/bpf', 'bpf') + line('/sys/fs/bpf', 'bpf'))).toEqual([
      { path: '/sys/fs/bpf', stacked: 2, readOnly: false },
    ]);
  });
});

describe('bpffsRoots()', () => {
  let plain: string;
  beforeAll(() => {
    plain = mkdtempSync(join(tmpdir(), 'ipc-bpffs-'));
  });
  afterAll(() => rmSync(plain, { recursive: true }));

  it('is every mounted bpffs where nobody named one', () => {
    const mountinfo = line('/run/cilium/bpffs', 'bpf') + line('/sys/fs/bpf', 'bpf');
    expect(bpffsRoots({ mountinfo })).toEqual(['/sys/fs/bpf', '/run/cilium/bpffs']);
  });

  it('exits 3 where none is mounted', () => {
    expect(() => bpffsRoots({ mountinfo: line('/', 'ext4') })).toThrow(
      expect.objectContaining({ exitCode: EXIT.notFound, code: 'NOT_BPFFS' }),
    );
  });

  it('op 50 exits 3 for a plain directory where a bpffs should be, and says who named it', () => {
    const error = { exitCode: EXIT.notFound, code: 'NOT_BPFFS' };
    const message = expect.stringContaining(`${plain}: not a bpf filesystem`);
    const named = { bpffs: plain, mountinfo: line('/sys/fs/bpf', 'bpf') };
    expect(() => bpffsRoots(named)).toThrow(
      expect.objectContaining({ ...error, message, hint: expect.stringContaining('--bpffs') }),
    );
    const foreign = { tcBpfMnt: plain, mountinfo: line('/sys/fs/bpf', 'bpf') };
    expect(() => bpffsRoots(foreign)).toThrow(
      expect.objectContaining({ ...error, message, hint: expect.stringContaining('TC_BPF_MNT') }),
    );
    expect(() => bpffsRoots({ bpffs: `${plain}/none`, mountinfo: '' })).toThrow('no such directory');
  });
});
