import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import Decode from '../../src/commands/decode.ts';
import { decodeEntry } from '../../src/lib/ipcache/entry.ts';
import { LAYOUTS, layoutNamed } from '../../src/lib/ipcache/layout.ts';
import { entryJson } from '../../src/lib/output/entry-json.ts';
import { entrySamples } from '../support/arbitrary-entry.ts';
import { hexTo } from '../support/hex.ts';
import { errorOf, type RunOptions, runCommand } from '../support/run-command.ts';

const fits = new Ajv2020().compile(JSON.parse(readFileSync('schemas/decode.json', 'utf8')));
const ZERO12 = '00'.repeat(12);
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

type Row = Record<string, unknown>;

async function decode(argv: readonly string[], options: RunOptions = {}): Promise<Row[]> {
  const { exitCode, stdout } = await runCommand(Decode, ['--json', ...argv], options);
  expect(exitCode).toBe(0);
  const rows: Row[] = JSON.parse(stdout);
  expect(fits(rows), JSON.stringify(fits.errors)).toBe(true);
  return rows;
}

async function refused(argv: readonly string[], options: RunOptions = {}): Promise<Row> {
  const json = await runCommand(Decode, ['--json', ...argv], options);
  expect(json.stdout).toBe('');
  const text = await runCommand(Decode, argv, options);
  expect([text.exitCode, text.stdout]).toEqual([json.exitCode, '']);
  const error = errorOf(json);
  expect(text.stderr).toContain(`Error: ${error.message}\n  hint: `);
  return { ...error, exitCode: json.exitCode };
}

describe('ipc decode of keys', () => {
  test.each([
    ['op 01', ['40000000', '0000', '00', '01', '0a000004', ZERO12], '10.0.0.4/32', undefined],
    ['op 02', [`20000000 0000 00 01 ${'00'.repeat(16)}`], '0.0.0.0/0', undefined],
    ['op 02', [`20000000 0000 00 02 ${'00'.repeat(16)}`], '::/0', undefined],
    ['op 03', [`38000000 0100 00 01 0a000000 ${ZERO12}`], '10.0.0.0/24@1', undefined],
    ['op 03', [`38000000 0000 01 01 0a000000 ${ZERO12}`, '--layout', '1.14'], '10.0.0.0/24@1', undefined],
    ['op 04', [`2a000000 0000 00 02 fe80 ${'00'.repeat(14)}`], 'fe80::/10', undefined],
    ['op 05', [`38000000 0000 00 01 0a000005 ${ZERO12}`], '10.0.0.0/24', ['noncanonical']],
  ])('%s %j is %s', async (_case, argv, prefix, warnings) => {
    expect(await decode(argv)).toMatchObject([{ prefix, ...(warnings && { warnings }) }]);
  });

  test('op 06 dead keys are raw hex with a warning and never a prefix', async () => {
    const long = `46000000 0000 00 01 0a000001 ${ZERO12}`;
    expect(await decode([long])).toMatchObject([
      { prefix: `0x46000000000000010a000001${ZERO12}`, family: 'ipv4', warnings: ['dead-entry'] },
    ]);
    const [other] = await decode([`40000000 0000 00 03 0a000001 ${ZERO12}`]);
    expect(other).toMatchObject({ family: 'unknown', warnings: ['unknown-family'] });
    const [short] = await decode([`10000000 0000 00 01 0a000001 ${ZERO12}`]);
    expect(short).toMatchObject({ family: 'any', warnings: ['catch-all'] });
  });

  test('what the bytes did not have is a dash in the table and nothing in CSV', async () => {
    const key = `20000000 0000 00 01 ${'00'.repeat(16)}`;
    expect((await runCommand(Decode, [key])).stdout).toMatch(/^0\.0\.0\.0\/0 +- +- +- +- +- /m);
    expect((await runCommand(Decode, [key, '-o', 'csv'])).stdout).toMatch(/^0\.0\.0\.0\/0,,,,,,/m);
  });

  test('a key alone has no value fields, and a note where layouts differ', async () => {
    const result = await runCommand(Decode, [`40000000 0000 01 01 0a000001 ${ZERO12}`]);
    expect(result.stdout).toMatch(/dead-entry$/m);
    expect(result.stderr).toContain('layout v2 assumed: the bytes do not tell; --layout reads them otherwise');
    expect(result.stderr).toContain('24 bytes alone were read as a key; give a value as --value HEX');
    const [row] = await decode([`40000000 0000 00 01 0a000001 ${ZERO12}`]);
    expect(Object.keys(row ?? {})).toEqual(['prefix', 'family', 'key', 'layout']);
  });
});

describe('ipc decode of values', () => {
  test('op 10 twelve bytes', async () => {
    const [row] = await decode(['987f0000 0a651033 0000 00 00']);
    expect(row).toMatchObject({ identity: 32664, tunnelEndpoint: '10.101.16.51', encryptKey: 0, layout: '1.16' });
    expect(row).not.toHaveProperty('prefix');
  });

  test.each([
    ['02', '172.18.0.2'],
    ['06', 'ac12:2::'],
  ])('op 11 flags %s read the tunnel as %s', async (flags, tunnelEndpoint) => {
    const value = `1ff20100 ac120002 ${ZERO12} 0000 03 ${flags}`;
    expect(await decode(['--value', value])).toMatchObject([
      { identity: 127519, scope: 'global', tunnelEndpoint, encryptKey: 3 },
    ]);
    const { stdout } = await runCommand(Decode, ['--value', value]);
    expect(stdout).toContain('global, cluster 1');
  });

  test.each([
    [`00000000 00000000 ${ZERO12} 0000 00 02`, 'flag-without-tunnel', '0.0.0.0'],
    [`00000000 0a000001 ${ZERO12} 0000 00 00`, 'tunnel-without-flag', undefined],
  ])('%s has the warning %s', async (value, warning, tunnelEndpoint) => {
    const [row] = await decode(['--value', value]);
    expect([row?.warnings, row?.tunnelEndpoint]).toEqual([[warning], tunnelEndpoint]);
  });

  test('op 13 unknown flag bits stay together', async () => {
    expect(await decode(['--value', `e8030000 ${'00'.repeat(19)} f0`])).toMatchObject([{ flags: ['0xf0'] }]);
  });

  test.each([
    [16379101, 'global', 'global, cluster 249'],
    [33156317, 'local', 'local 16379101'],
    [8, 'reserved', 'ingress'],
    [33554433, 'remote-node', 'remote-node 1'],
    [0xffffffff, 'unknown', 'unknown scope'],
  ])('op 14 identity %i is %s: %s', async (identity, scope, words) => {
    const value = new Uint8Array(24);
    new DataView(value.buffer).setUint32(0, identity, true);
    expect(await decode(['--value', toHex(value)])).toMatchObject([{ identity, scope }]);
    expect((await runCommand(Decode, ['--value', toHex(value)])).stdout).toContain(words);
  });

  test.each(LAYOUTS.map((layout) => layout.name))('reads layout %s as asked for', async (name) => {
    const { bytes } = layoutNamed(name).value;
    const value = toHex(hexTo(bytes, '01020304 05060708'));
    expect(await decode(['--value', value, '--layout', name])).toMatchObject([
      { identity: name === '1.0' ? 0x0201 : 0x04030201, layout: name },
    ]);
  });
});

describe('ipc decode of many entries', () => {
  const key = toHex(hexTo(24, '40000000 0000 00 01 0a000001'));

  test('reads standard input without arguments or for -', async () => {
    const stdin = `${key} 01000000 00000000 00000300\n${key} 02000000 00000000 00000001\n`;
    for (const argv of [[], ['-']]) {
      const rows = await decode(argv, { stdin });
      expect(rows.map(({ identity, encryptKey, layout }) => [identity, encryptKey, layout])).toEqual([
        [1, 3, '1.16'],
        [2, 0, '1.16'],
      ]);
    }
  });

  test('takes the layout from all of them together, and refuses where they contradict each other', async () => {
    const stdin = `${key} 01000000 00000000 03000000\n${key} 02000000 00000000 00000001\n`;
    const error = await refused([], { stdin });
    expect(error).toMatchObject({ exitCode: 4, code: 'LAYOUT_AMBIGUOUS' });
    expect(error.message).toMatch(/^Cannot tell the layout of standard input: /);
    expect(await decode(['--layout', '1.5'], { stdin })).toMatchObject([{ encryptKey: 3 }, { encryptKey: 0 }]);
  });

  test('prints [] for the dump of an empty map', async () => {
    expect((await runCommand(Decode, ['-j'], { stdin: '[]' })).stdout).toBe('[]\n');
  });

  test('prints what ipc dump --raw prints, and the layout', async () => {
    const layout = layoutNamed('v2');
    await fc.assert(
      fc.asyncProperty(entrySamples(layout), async (samples) => {
        const stdin = JSON.stringify(samples.map((sample) => ({ key: [...sample.key], value: [...sample.value] })));
        const rows = await decode([], { stdin });
        const keyWarnings = ['noncanonical', 'catch-all', 'dead-entry', 'unknown-family', 'v4-mapped'];
        const withoutExtras = rows.map(({ layout: _, warnings, ...row }) => {
          const left = Array.isArray(warnings) ? warnings.filter((word) => keyWarnings.includes(String(word))) : [];
          return { ...row, ...(left.length > 0 && { warnings: left }) };
        });
        const dumped = samples.map(({ key: keys, value: values }) =>
          entryJson(decodeEntry(layout, { keys, values }), { raw: { key: toHex(keys), value: toHex(values) } }),
        );
        expect(withoutExtras).toEqual(dumped);
      }),
      { numRuns: 50 },
    );
  });
});

describe('ipc decode refuses', () => {
  test('garbage as an argument: 2', async () => {
    expect(await refused(['40 zz'])).toMatchObject({ exitCode: 2, code: 'BAD_HEX' });
    expect(await refused(['40 00'])).toMatchObject({ exitCode: 2 });
    expect(await refused(['--key', '40'])).toMatchObject({ exitCode: 2 });
  });

  test('garbage on standard input: 9 with the line', async () => {
    const error = await refused([], { stdin: `${'00'.repeat(24)}\nhello\n` });
    expect(error).toMatchObject({ exitCode: 9, file: 'standard input', line: 2 });
    expect(await refused([], { stdin: '' })).toMatchObject({ exitCode: 9 });
    expect(await refused([], { stdin: '[{"key":' })).toMatchObject({ exitCode: 9 });
  });

  test('values of two sizes: they are not of one map', async () => {
    const stdin = `value: ${'00'.repeat(12)}\nvalue: ${'00'.repeat(24)}\n`;
    const error = await refused([], { stdin });
    expect(error).toMatchObject({ exitCode: 9 });
    expect(error.message).toContain('values have 12 and 24 bytes');
  });

  test('a layout that does not exist: 2, or does not fit: 4', async () => {
    expect(await refused(['--layout', 'v3', '00'.repeat(12)])).toMatchObject({ exitCode: 2, code: 'BAD_LAYOUT' });
    expect(await refused(['--layout', '1.2', '00'.repeat(12)])).toMatchObject({ exitCode: 4, code: 'LAYOUT' });
  });
});
