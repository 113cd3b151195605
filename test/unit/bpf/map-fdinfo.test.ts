import { describe, expect, it } from 'vitest';
import { parseMapFdinfo } from '../../../src/lib/bpf/map-fdinfo.ts';

const text = (flags: string, frozen = 0) =>
  `pos:\t0\nflags:\t${flags}\nmnt_id:\t15\nino:\t2066\nmap_type:\t11\nkey_size:\t24\nvalue_size:\t24\nmax_entries:\t512000\n` +
  `map_flags:\t0x81\nmap_extra:\t0x0\nmemlock:\t40960000\nmap_id:\t189\nfrozen:\t${frozen}\n`;

describe('parseMapFdinfo()', () => {
  it.each([
    ['02000002', 'read-write'],
    ['02000000', 'read-only'],
    ['02000001', 'write-only'],
    ['02', 'read-write'],
  ])('flags %s are %s', (flags, access) => {
    expect(parseMapFdinfo(text(flags))).toEqual({ mapId: 189, access, frozen: false, memlockBytes: 40960000 });
  });

  it('tells a frozen map', () => {
    expect(parseMapFdinfo(text('02', 1))?.frozen).toBe(true);
  });

  it('leaves memlock out where the kernel does not say', () => {
    expect(parseMapFdinfo('flags:\t02\nmap_id:\t3\n')).toEqual({ mapId: 3, access: 'read-write', frozen: false });
  });

  it.each(['', 'pos:\t0\nflags:\t02\n', 'map_id:\t3\n', 'flags:\t02\nprog_id:\t3\n'])(
    'is undefined for %j',
    (other) => {
      expect(parseMapFdinfo(other)).toBeUndefined();
    },
  );
});
