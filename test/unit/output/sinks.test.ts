import { describe, expect, it } from 'vitest';
import type { ByteWriter } from '../../../src/lib/output/byte-writer.ts';
import { csvLine } from '../../../src/lib/output/csv-sink.ts';
import type { OutputFormat } from '../../../src/lib/output/format.ts';
import { createPaint } from '../../../src/lib/output/paint.ts';
import { createSink } from '../../../src/lib/output/sink.ts';
import type { ListView, ReportView } from '../../../src/lib/output/view.ts';

interface Row {
  readonly name: string;
  readonly count?: number;
}

const list: ListView<Row> = {
  columns: [
    { title: 'NAME', value: (row) => row.name },
    { title: 'COUNT', align: 'right', value: (row) => row.count },
  ],
  json: (row) => ({ name: row.name, count: row.count }),
  empty: 'nothing here',
};

const report: ReportView<Row> = {
  kind: 'sample',
  json: (row) => ({ name: row.name, count: row.count }),
  text: (row, paint) => [paint.bold(row.name)],
  csv: { header: ['name', 'count'], rows: (row) => [[row.name, row.count]] },
};

function collect(): { writer: ByteWriter; text: () => string; ended: () => number } {
  const chunks: Buffer[] = [];
  let ended = 0;
  const writer: ByteWriter = {
    write: (bytes) => chunks.push(Buffer.from(bytes)),
    end: async () => {
      ended++;
    },
    abort: () => {},
  };
  return { writer, text: () => Buffer.concat(chunks).toString(), ended: () => ended };
}

async function printed(format: OutputFormat, rows: Iterable<Row> | AsyncIterable<Row>): Promise<string> {
  const { writer, text, ended } = collect();
  await createSink(format, writer, () => createPaint(false)).list(list, rows);
  expect(ended()).toBe(1);
  return text();
}

async function reported(format: OutputFormat, model: Row, colour = false): Promise<string> {
  const { writer, text, ended } = collect();
  await createSink(format, writer, () => createPaint(colour)).report(report, model);
  expect(ended()).toBe(1);
  return text();
}

async function* slowly<T>(rows: readonly T[]): AsyncGenerator<T> {
  for (const row of rows) yield row;
}

const ROWS: readonly Row[] = [{ name: 'a', count: 1 }, { name: 'long"er' }];

describe('list()', () => {
  it.each<[OutputFormat, string, string]>([
    ['json', '[\n{"name":"a","count":1},\n{"name":"long\\"er"}\n]\n', '[]\n'],
    ['ndjson', '{"name":"a","count":1}\n{"name":"long\\"er"}\n', ''],
    ['csv', 'name,count\na,1\n"long""er",\n', 'name,count\n'],
    ['table', 'NAME     COUNT\na            1\nlong"er\n', 'nothing here\n'],
  ])('as %s', async (format, text, empty) => {
    expect(await printed(format, ROWS)).toBe(text);
    expect(await printed(format, slowly(ROWS))).toBe(text);
    expect(await printed(format, [])).toBe(empty);
  });

  it('as a table goes on with the widths of its first rows', async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => ({ name: `row ${i}`, count: i }));
    const lines = (await printed('table', many)).trimEnd().split('\n');
    expect(lines).toHaveLength(1_201);
    expect(lines[0]).toBe('NAME     COUNT');
    expect(lines[1_000]).toBe('row 999    999');
    expect(lines[1_001]).toBe('row 1000   1000');
    expect(lines.slice(1).map((line) => line.trim().split(/ {2,}/).length)).toEqual(many.map(() => 2));
  });

  it('as JSON is well-formed even when the rows end with an error', async () => {
    const { writer, text, ended } = collect();
    const failing = (async function* (): AsyncGenerator<Row> {
      yield { name: 'a' };
      throw new Error('walk ended early');
    })();
    await expect(createSink('json', writer, () => createPaint(false)).list(list, failing)).rejects.toThrow('early');
    expect(JSON.parse(text())).toEqual([{ name: 'a' }]);
    expect(ended()).toBe(0);
  });

  it('as a table escapes what came from outside', async () => {
    expect(await printed('table', [{ name: '\u001b[2J' }])).toContain('\\x1b[2J');
  });
});

describe('report()', () => {
  it('as JSON is one line that begins with kind and version', async () => {
    const line = '{"kind":"sample","schemaVersion":1,"name":"a","count":1}\n';
    expect(await reported('json', { name: 'a', count: 1 })).toBe(line);
    expect(await reported('ndjson', { name: 'a', count: 1 })).toBe(line);
  });

  it('as CSV and as text', async () => {
    expect(await reported('csv', { name: 'a', count: 1 })).toBe('name,count\na,1\n');
    expect(await reported('table', { name: 'a' })).toBe('a\n');
    expect(await reported('table', { name: 'a' }, true)).toBe('\u001b[1ma\u001b[22m\n');
  });
});

describe('csvLine()', () => {
  it.each([
    [['a', 1, true, undefined], 'a,1,true,\n'],
    [['x,y', 'say "hi"'], '"x,y","say ""hi"""\n'],
    [['=1+1', '@x', '-1', '+1', -1], "'=1+1,'@x,'-1,'+1,-1\n"],
    [['a\nb'], 'a\\x0ab\n'],
  ])('%j', (cells, line) => {
    expect(csvLine(cells)).toBe(line);
  });
});
