import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lookAt, lookAtExactly } from '../../../src/lib/fs/look-at.ts';
import { openSnapshot } from '../../../src/lib/snapshot/snapshot-reader.ts';

const dir = fs.mkdtempSync(join(tmpdir(), 'ipc-look-'));
const file = join(dir, 'file');
fs.writeFileSync(file, 'text');
fs.symlinkSync('loop', join(dir, 'loop'));
afterAll(() => fs.rmSync(dir, { recursive: true }));

describe('lookAt()', () => {
  it('sees what is there', () => {
    expect(lookAt(file)?.size).toBe(4);
    expect(lookAtExactly(file)?.size).toBe(4n);
  });

  it.each(['none', 'file/below', 'loop', 'nul\0'])('sees nothing at %j, whatever the reason', (name) => {
    expect(lookAt(join(dir, name))).toBeUndefined();
    expect(lookAtExactly(join(dir, name))).toBeUndefined();
  });

  it('leaves it to opening to say why', async () => {
    await expect(openSnapshot(join(file, 'below'))).rejects.toMatchObject({
      exitCode: 3,
      message: `Cannot read snapshot ${file}/below: a part of the path is not a directory`,
    });
  });
});
