import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = path.join(import.meta.dirname, '../../../src');
/** Commands that are planned, and that this version does not have. */
const ABSENT = /\bipc (stats|watch|verify)\b/;

test('no hint and no text names a command that does not exist', () => {
  const commands = readdirSync(path.join(SOURCE, 'commands')).map((name) => path.basename(name, '.ts'));
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const named = new Set<string>();
  for (const file of files) {
    for (const line of readFileSync(path.join(SOURCE, file), 'utf8').split('\n')) {
      if (/^\s*(\*|\/\*|\/\/)/.test(line)) continue;
      const absent = ABSENT.exec(line)?.[1];
      if (absent !== undefined && !commands.includes(absent)) named.add(`${file}: ipc ${absent}`);
    }
  }
  expect(files.length).toBeGreaterThan(100);
  expect([...named]).toEqual([]);
});
