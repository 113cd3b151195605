import { describe, expect, it } from 'vitest';
import { layoutNamed } from '../../../../src/lib/ipcache/layout.ts';
import { BpftoolFormat } from '../../../../src/lib/output/dump/bpftool-format.ts';
import { CiliumFormat } from '../../../../src/lib/output/dump/cilium-format.ts';
import { CsvFormat } from '../../../../src/lib/output/dump/csv-format.ts';
import type { EntryFormat, FormatOptions } from '../../../../src/lib/output/dump/entry-format.ts';
import { TableFormat } from '../../../../src/lib/output/dump/table-format.ts';
import { CollectWriter } from '../../../support/collect-writer.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const zeros = (count: number): string => '00'.repeat(count);

const LOCAL = { key: hex(`40000000 0000 00 01 0a000004 ${zeros(12)}`), value: hex(`01000001 ${zeros(16)} 0000 00 00`) };
const TUNNEL = {
  key: hex(`38000000 0100 00 01 0a000000 ${zeros(12)}`),
  value: hex(`2a f10100 ac120002 ${zeros(12)} 0000 03 f2`),
};
const IPV6 = { key: hex(`60000000 0000 00 02 fd00 ${zeros(14)}`), value: hex(`02000000 ${zeros(16)} 0000 00 00`) };
const DEAD = { key: hex(`66000000 0000 00 01 0a000000 ${zeros(12)}`), value: hex(`06000002 ${zeros(16)} 0000 00 00`) };

type Sample = typeof LOCAL;
type FormatClass = new (options: FormatOptions) => EntryFormat;

function print(Format: FormatClass, samples: readonly Sample[], options: Partial<FormatOptions> = {}): string {
  const writer = new CollectWriter();
  const format = new Format({ layout: layoutNamed('v2'), writer, ...options });
  format.begin(Buffer.concat(samples.map((sample) => sample.key)));
  for (const { key, value } of samples) format.entry(key, 0, value, 0);
  format.end({ entries: samples.length, complete: true });
  return writer.text;
}

const labelsOf: FormatOptions['labelsOf'] = (identity) =>
  identity === 16777217 ? { labels: ['cidr:10.0.0.4/32', 'k8s:a=\u001b[31m'], labelsFrom: 'allocator' } : undefined;

describe('TableFormat', () => {
  it('entry() aligns the columns and names scopes with their index', () => {
    expect(print(TableFormat, [LOCAL, TUNNEL, IPV6]).split('\n')).toEqual([
      'PREFIX                                       IDENTITY    SCOPE                 TUNNEL           KEY  FLAGS',
      '10.0.0.4/32                                  16777217    local 1               -                0    -',
      '10.0.0.0/24@1                                127274      global                172.18.0.2       3    hastunnel,0xf0',
      'fd00::/64                                    2           world                 -                0    -',
      '',
    ]);
  });

  it('begin() keeps the prefix column narrow for an IPv4 map', () => {
    expect(print(TableFormat, [LOCAL]).split('\n')[1]).toBe(
      '10.0.0.4/32         16777217    local 1               -                0    -',
    );
  });

  it('entry() escapes labels and shows warnings and raw bytes', () => {
    const text = print(TableFormat, [LOCAL, DEAD], { labelsOf, raw: true });
    expect(text).toContain('cidr:10.0.0.4/32 k8s:a=\\x1b[31m\n    key 40000000000000010a000004');
    expect(text).toContain(`0x66000000000000010a000000${zeros(12)}  33554438  remote-node 6  -`);
    expect(text).toContain('  ! dead-entry\n');
  });
});

describe('CsvFormat', () => {
  it('entry() prints the fields of the JSON entry as columns', () => {
    expect(print(CsvFormat, [LOCAL, TUNNEL, DEAD], { labelsOf }).split('\n')).toEqual([
      'prefix,clusterId,family,identity,scope,labels,labelsFrom,tunnelEndpoint,encryptKey,flags,warnings',
      '10.0.0.4/32,,ipv4,16777217,local,cidr:10.0.0.4/32 k8s:a=\\x1b[31m,allocator,,0,,',
      '10.0.0.0/24@1,1,ipv4,127274,global,,,172.18.0.2,3,hastunnel 0xf0,',
      `0x66000000000000010a000000${zeros(12)},,ipv4,33554438,remote-node,,,,0,,dead-entry`,
      '',
    ]);
  });
});

describe('CiliumFormat', () => {
  it('entry() prints the object of cilium-dbg with the escapes of Go', () => {
    expect(print(CiliumFormat, [LOCAL, TUNNEL])).toBe(`{
  "10.0.0.4/32": [
    "identity=16777217 encryptkey=0 tunnelendpoint=0.0.0.0 flags=\\u003cnone\\u003e"
  ],
  "10.0.0.0/24@1": [
    "identity=127274 encryptkey=3 tunnelendpoint=172.18.0.2 flags=hastunnel"
  ]
}
`);
  });

  it('end() prints keys of no prefix last, under one name each as Go does, so that a parser loses none', () => {
    const far = { key: hex(`40000000 0000 00 03 0a000000 ${zeros(12)}`), value: LOCAL.value };
    const printed = print(CiliumFormat, [DEAD, far, LOCAL, DEAD]);
    expect(printed.match(/invalid Prefix/g)).toHaveLength(1);
    expect(JSON.parse(printed)).toEqual({
      '10.0.0.4/32': [expect.stringMatching(/^identity=16777217 /)],
      'invalid Prefix': [expect.stringMatching(/^identity=33554438 /), expect.stringMatching(/^identity=33554438 /)],
      '<unknown>': [expect.stringMatching(/^identity=16777217 /)],
    });
    expect(JSON.parse(print(CiliumFormat, [DEAD]))).toEqual({ 'invalid Prefix': [expect.any(String)] });
  });

  it('end() prints an empty object for an empty map', () => {
    expect(print(CiliumFormat, [])).toBe('{}\n');
  });
});

describe('BpftoolFormat', () => {
  it('entry() prints every byte of key and value', () => {
    const [first] = JSON.parse(print(BpftoolFormat, [TUNNEL, LOCAL])) as { key: string[]; value: string[] }[];
    expect(first?.key.slice(0, 9)).toEqual(['0x38', '0x00', '0x00', '0x00', '0x01', '0x00', '0x00', '0x01', '0x0a']);
    expect([first?.key.length, first?.value.length, first?.value[23]]).toEqual([24, 24, '0xf2']);
  });

  it('end() prints an empty array for an empty map', () => {
    expect(print(BpftoolFormat, [])).toBe('[]\n');
  });
});
