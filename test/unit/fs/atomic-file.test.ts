import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAtomicFile, removeTemporaries, writeFileAtomically } from '../../../src/lib/fs/atomic-file.ts';

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'ipc-atomic-'));
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const read = (name: string): string => fs.readFileSync(join(dir, name), 'utf8');
const modeOf = (name: string): number => fs.statSync(join(dir, name)).mode & 0o7777;

describe('openAtomicFile()', () => {
  it('leaves the old file in place until commit, and nothing beside it afterwards', async () => {
    fs.writeFileSync(join(dir, 'a'), 'old');
    using file = openAtomicFile(join(dir, 'a'));
    file.writeSync('new ');
    await file.write(Buffer.from('text'));
    expect(read('a')).toBe('old');
    await file.commit();
    expect(read('a')).toBe('new text');
    expect(fs.readdirSync(dir)).toEqual(['a']);
  });

  it('removes what was written when it is disposed without a commit', () => {
    fs.writeFileSync(join(dir, 'a'), 'old');
    {
      using file = openAtomicFile(join(dir, 'a'));
      file.writeSync('half');
      expect(fs.readdirSync(dir)).toHaveLength(2);
    }
    expect(read('a')).toBe('old');
    expect(fs.readdirSync(dir)).toEqual(['a']);
  });

  it('keeps the mode of an existing file and gives a new one 0600', async () => {
    fs.writeFileSync(join(dir, 'a'), 'old');
    fs.chmodSync(join(dir, 'a'), 0o640);
    await writeFileAtomically(join(dir, 'a'), 'x');
    await writeFileAtomically(join(dir, 'b'), 'x');
    expect(modeOf('a')).toBe(0o640);
    expect(modeOf('b')).toBe(0o600);
  });

  it('replaces what a symbolic link points at, not the link', async () => {
    fs.mkdirSync(join(dir, 'real'));
    fs.writeFileSync(join(dir, 'real', 'a'), 'old');
    fs.symlinkSync('real/a', join(dir, 'link'));
    await writeFileAtomically(join(dir, 'link'), 'new');
    expect(read('real/a')).toBe('new');
    expect(fs.readlinkSync(join(dir, 'link'))).toBe('real/a');
  });

  it('makes what dangling links lead to, and keeps the links', async () => {
    fs.mkdirSync(join(dir, 'real'));
    fs.symlinkSync('real/a', join(dir, 'second'));
    fs.symlinkSync('second', join(dir, 'link'));
    await writeFileAtomically(join(dir, 'link'), 'new');
    expect(read('real/a')).toBe('new');
    expect([fs.readlinkSync(join(dir, 'link')), fs.readlinkSync(join(dir, 'second'))]).toEqual(['second', 'real/a']);
    expect(fs.readdirSync(dir).sort()).toEqual(['link', 'real', 'second']);
  });

  it.each([235, 237, 238, 255])('makes a file with a name of %d bytes', async (bytes) => {
    const name = 'n'.repeat(bytes);
    await writeFileAtomically(join(dir, name), 'x');
    expect(fs.readdirSync(dir)).toEqual([name]);
    const killed = openAtomicFile(join(dir, name));
    expect(removeTemporaries(join(dir, name))).toHaveLength(1);
    killed[Symbol.dispose]();
  });

  it('writes to a device instead of replacing it', async () => {
    const before = fs.statSync('/dev/null');
    await writeFileAtomically('/dev/null', 'x');
    expect(fs.statSync('/dev/null').ino).toBe(before.ino);
    expect(fs.statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('names what is wrong with the path', () => {
    expect(() => openAtomicFile(dir)).toThrow(`Cannot write ${dir}: it is a directory`);
    expect(() => openAtomicFile(join(dir, 'no/a'))).toThrow(`Cannot write ${dir}/no/a: no such file or directory`);
    expect(() => openAtomicFile(join(dir, 'no/a'))).toThrow(expect.objectContaining({ exitCode: 3 }));
  });

  it('reports a full device with exit code 1', () => {
    using file = openAtomicFile('/dev/full');
    expect(() => file.writeSync('x')).toThrow('Cannot write /dev/full: no space left on the device');
  });

  it('closes its descriptor on commit and on dispose', async () => {
    const open = (): number => fs.readdirSync('/proc/self/fd').length;
    const before = open();
    await writeFileAtomically(join(dir, 'a'), 'x', { previous: join(dir, 'a.previous') });
    await writeFileAtomically(join(dir, 'a'), 'y', { previous: join(dir, 'a.previous') });
    openAtomicFile(join(dir, 'a'))[Symbol.dispose]();
    expect(open()).toBe(before);
  });
});

describe('previous generation', () => {
  const options = () => ({ previous: join(dir, 'a.previous') });

  it('is the file before the last commit', async () => {
    await writeFileAtomically(join(dir, 'a'), '1', options());
    expect(fs.readdirSync(dir)).toEqual(['a']);
    await writeFileAtomically(join(dir, 'a'), '2', options());
    await writeFileAtomically(join(dir, 'a'), '3', options());
    expect([read('a'), read('a.previous')]).toEqual(['3', '2']);
    expect(fs.readdirSync(dir).sort()).toEqual(['a', 'a.previous']);
  });

  it('recovers from a run that was killed between keeping and replacing', async () => {
    await writeFileAtomically(join(dir, 'a'), '1', options());
    fs.linkSync(join(dir, 'a'), join(dir, 'a.previous'));
    fs.linkSync(join(dir, 'a'), join(dir, 'a.previous.new'));
    await writeFileAtomically(join(dir, 'a'), '2', options());
    expect([read('a'), read('a.previous')]).toEqual(['2', '1']);
    expect(fs.readdirSync(dir).sort()).toEqual(['a', 'a.previous']);
  });
});

describe('removeTemporaries()', () => {
  it('removes the temporaries of this file only', () => {
    for (const name of ['.a.0123456789ab.tmp', '.b.0123456789ab.tmp', '.a.notes.tmp', 'a']) {
      fs.writeFileSync(join(dir, name), '');
    }
    expect(removeTemporaries(join(dir, 'a'))).toEqual(['.a.0123456789ab.tmp']);
    expect(fs.readdirSync(dir).sort()).toEqual(['.a.notes.tmp', '.b.0123456789ab.tmp', 'a']);
  });
});
