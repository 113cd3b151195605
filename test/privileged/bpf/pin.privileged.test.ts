import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMap } from '../../../src/lib/bpf/create-map.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { parseMapRef } from '../../../src/lib/bpf/map-ref.ts';
import { openById } from '../../../src/lib/bpf/object-ids.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { exchangePins, linkPin, pinMap, renamePin, renamePinIfFree, unpin } from '../../../src/lib/bpf/pin.ts';
import { listPrograms } from '../../../src/lib/bpf/prog-list.ts';
import { BPF_OBJ_PIN } from '../../../src/lib/bpf/uapi.ts';
import { EXIT } from '../../../src/lib/errors.ts';
import { BpfAttr } from '../../../src/lib/native/attr.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { loadProgram } from '../../support/load-program.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
let directory: PinDirectory;
let one: BpfMap;
let two: BpfMap;
let before: number;
let pin: (name: string) => string;

beforeEach(() => {
  before = bpfDescriptors();
  directory = pinDirectory('pin');
  pin = (name) => `${directory.path}/${name}`;
  one = realTrie(kernel);
  two = realTrie(kernel);
});
afterEach(() => {
  one[Symbol.dispose]();
  two[Symbol.dispose]();
  directory[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

function idAt(path: string): number {
  using map = openPin(path, { kernel });
  return map.info.id;
}

describe('pins', () => {
  it('pinMap(), linkPin() and unpin() give names and take them away', () => {
    pinMap(one, pin('a'));
    linkPin(pin('a'), pin('b'));
    unpin(pin('a'));
    expect([existsSync(pin('a')), idAt(pin('b'))]).toEqual([false, one.info.id]);
    expect(() => pinMap(two, pin('b'))).toThrow(expect.objectContaining({ code: 'PIN_EXISTS' }));
    expect(() => linkPin(pin('b'), pin('b'))).toThrow(expect.objectContaining({ code: 'PIN_EXISTS' }));
    expect(() => unpin(pin('a'))).toThrow(expect.objectContaining({ code: 'MAP_NOT_FOUND' }));
  });

  it('renamePin() replaces, renamePinIfFree() does not, exchangePins() swaps', () => {
    pinMap(one, pin('a'));
    pinMap(two, pin('b'));
    expect(() => renamePinIfFree(pin('a'), pin('b'))).toThrow(expect.objectContaining({ code: 'PIN_EXISTS' }));
    exchangePins(pin('a'), pin('b'));
    expect([idAt(pin('a')), idAt(pin('b'))]).toEqual([two.info.id, one.info.id]);
    renamePin(pin('a'), pin('b'));
    expect([existsSync(pin('a')), idAt(pin('b'))]).toEqual([false, two.info.id]);
    renamePinIfFree(pin('b'), pin('c'));
    expect(idAt(pin('c'))).toBe(two.info.id);
    expect(() => exchangePins(pin('c'), pin('none'))).toThrow(expect.objectContaining({ code: 'MAP_NOT_FOUND' }));
  });

  it('a name with a dot, and a directory that is not on bpffs, are refused with what would help', () => {
    expect(() => pinMap(one, pin('a.b'))).toThrow('dot');
    expect(() => pinMap(one, pin('none/a'))).toThrow(expect.objectContaining({ exitCode: EXIT.notFound }));
    expect(() => pinMap(one, join(tmpdir(), `ipc-test-${process.pid}`))).toThrow(
      expect.objectContaining({ exitCode: EXIT.notFound, code: 'NOT_BPFFS' }),
    );
  });

  it('unpin() leaves files elsewhere alone', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'ipc-pin-')), 'precious');
    writeFileSync(file, '');
    expect(() => unpin(file)).toThrow('is not a bpf filesystem');
    expect(existsSync(file)).toBe(true);
    rmSync(join(file, '..'), { recursive: true });
  });
});

describe('openPin()', () => {
  it('names a missing pin, with path, errno and syscall', () => {
    expect(() => openPin(pin('none'), { kernel })).toThrow(
      expect.objectContaining({
        exitCode: EXIT.notFound,
        code: 'MAP_NOT_FOUND',
        message: `Cannot open map ${pin('none')}: no such pin`,
        operands: { path: pin('none'), errno: 'ENOENT', syscall: 'BPF_OBJ_GET' },
      }),
    );
  });

  it('op 50 exits 3 for a plain file, a plain directory and a tmpfs: not a bpf filesystem', () => {
    const plain = mkdtempSync(join(tmpdir(), 'ipc-pin-'));
    writeFileSync(join(plain, 'file'), '');
    mkdirSync(join(plain, 'tmpfs'));
    expect(spawnSync('mount', ['-t', 'tmpfs', 'none', join(plain, 'tmpfs')]).status).toBe(0);
    try {
      for (const path of ['file', 'none', 'tmpfs', 'tmpfs/none']) {
        const file = join(plain, path);
        const where = path === 'tmpfs' || path === 'tmpfs/none' ? join(plain, 'tmpfs') : plain;
        expect(() => openPin(file, { kernel })).toThrow(
          expect.objectContaining({
            exitCode: EXIT.notFound,
            code: 'NOT_BPFFS',
            message: `Cannot open map ${file}: ${where} is not a bpf filesystem`,
          }),
        );
        expect(parseMapRef(file).kind).toBe('file');
      }
    } finally {
      spawnSync('umount', [join(plain, 'tmpfs')]);
      rmSync(plain, { recursive: true });
    }
  });

  it('tells a directory on bpffs from a pin', () => {
    expect(() => openPin(directory.path, { kernel })).toThrow(
      expect.objectContaining({ exitCode: EXIT.notFound, code: 'NOT_A_PIN' }),
    );
    expect(parseMapRef(pin('none')).kind).toBe('pin');
  });

  it('has no pin below a pin', () => {
    pinMap(one, pin('map'));
    for (const path of [`${pin('map')}/`, `${pin('map')}/below`]) {
      expect(() => openPin(path, { kernel })).toThrow(
        expect.objectContaining({ exitCode: EXIT.notFound, code: 'MAP_NOT_FOUND' }),
      );
    }
  });

  it('refuses a pinned program, which the kernel opens just as well', () => {
    using _ = loadProgram(kernel, { fd: one.fd, keyBytes: 24 }, 'ipc_test_pin');
    const id = [...listPrograms(kernel)].find(({ name }) => name === 'ipc_test_pin')?.id ?? 0;
    using fd = openById(kernel, 'program', id);
    expect(kernel.bpf(BPF_OBJ_PIN, new BpfAttr().cstring(0, pin('p')).u32(8, fd?.number ?? 0))).toBe(0);
    expect(() => openPin(pin('p'), { kernel })).toThrow(
      expect.objectContaining({ code: 'NOT_A_MAP', message: expect.stringContaining('a pinned program, not a map') }),
    );
  });

  it('opens any type of map', () => {
    using hash = createMap(kernel, { type: 1, keyBytes: 4, valueBytes: 4, maxEntries: 1, flags: 0 });
    pinMap(hash, pin('h'));
    using map = openPin(pin('h'), { kernel });
    expect([map.info.type, map.info.name]).toEqual([1, '']);
  });
});
