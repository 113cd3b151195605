import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { checkBpffs } from '../../../src/lib/doctor/check-bpffs.ts';

const line = (path: string, options = 'rw,nosuid') => `30 1 0:27 / ${path} ${options} shared:9 - bpf bpf rw,mode=700\n`;
const check = (mountinfo: string) =>
  checkBpffs({ mountinfo }).findings.map(({ severity, message }) => `${severity}: ${message}`);

describe('checkBpffs()', () => {
  it('says that none is mounted, and how to mount one', () => {
    expect(checkBpffs({ mountinfo: '' })).toMatchObject({
      roots: [],
      findings: [{ severity: 'high', hint: 'mount one: mount -t bpf bpf /sys/fs/bpf' }],
    });
  });

  it('finds mounts that lie on top of each other, on any path', () => {
    expect(check(line('/none/bpf').repeat(3))).toEqual([
      'high: 3 bpf filesystems are mounted on /none/bpf: only the pins of the last one can be seen',
    ]);
    expect(check(line('/none/a') + line('/none/b'))).toEqual([
      'info: a bpf filesystem is mounted on /none/a',
      'info: a bpf filesystem is mounted on /none/b',
    ]);
  });

  it('knows a mount by the named root, also with a slash too many', () => {
    const findings = checkBpffs({ bpffs: '/sys/fs/bpf/', mountinfo: line('/sys/fs/bpf').repeat(2) }).findings;
    // Where the machine has no bpffs there, that is the finding.
    expect(findings).toMatchObject([{ severity: 'high' }]);
  });

  it('tells a hidden and a read-only one', () => {
    expect(check(line(tmpdir()))).toEqual([`high: ${tmpdir()} is hidden: another filesystem is mounted over it`]);
    expect(check(line('/none/bpf', 'ro,nosuid'))).toEqual([
      'medium: /none/bpf is mounted read-only: no pin can be made or replaced',
    ]);
  });
});
