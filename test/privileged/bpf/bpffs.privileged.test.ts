import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bpffsMounts, bpffsRoots } from '../../../src/lib/bpf/bpffs.ts';
import { isBelowBpffs, placeOf } from '../../../src/lib/bpf/statfs.ts';

it('op 50 two bpf mounts on one path are seen as such, and the path is a bpf filesystem', () => {
  const path = mkdtempSync(join(tmpdir(), 'ipc-bpffs two-'));
  let mounted = 0;
  try {
    expect([placeOf(path), isBelowBpffs(`${path}/x/y`)]).toEqual(['elsewhere', false]);
    while (mounted < 2) {
      expect(spawnSync('mount', ['-t', 'bpf', 'bpf', path]).status).toBe(0);
      mounted++;
    }
    const mountinfo = readFileSync('/proc/self/mountinfo', 'utf8');
    expect(bpffsMounts(mountinfo)).toContainEqual({ path, stacked: 2, readOnly: false });
    expect(bpffsRoots({ tcBpfMnt: path, mountinfo })).toEqual([path]);
    expect([placeOf(path), placeOf(`${path}/x`), isBelowBpffs(`${path}/x/y`)]).toEqual(['bpffs', 'missing', true]);
  } finally {
    while (mounted-- > 0) spawnSync('umount', [path]);
    rmdirSync(path);
  }
});
