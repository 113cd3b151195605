import { describe, expect, it } from 'vitest';
import { parseMountinfo } from '../../../src/lib/bpf/mountinfo.ts';

describe('parseMountinfo()', () => {
  it('reads lines with and without optional fields', () => {
    const text = [
      '29 22 0:26 / /sys/fs/bpf rw,nosuid,relatime shared:9 master:1 - bpf bpf rw,mode=700',
      '30 22 0:27 / /proc ro - proc proc rw',
      '',
    ].join('\n');
    expect(parseMountinfo(text)).toEqual([
      {
        id: 29,
        parentId: 22,
        root: '/',
        mountPoint: '/sys/fs/bpf',
        options: ['rw', 'nosuid', 'relatime'],
        fsType: 'bpf',
      },
      { id: 30, parentId: 22, root: '/', mountPoint: '/proc', options: ['ro'], fsType: 'proc' },
    ]);
  });

  it('unescapes spaces, tabs, newlines and backslashes, and only once', () => {
    const [mount] = parseMountinfo('1 2 0:1 / /a\\040b\\011c\\012d\\134040 rw - bpf bpf rw');
    expect(mount?.mountPoint).toBe('/a b\tc\nd\\040');
  });

  it.each(['', 'garbage', '1 2 0:1 / /x rw shared:1', '1 2 0:1 / /x rw -'])('skips %j', (text) => {
    expect(parseMountinfo(text)).toEqual([]);
  });
});
