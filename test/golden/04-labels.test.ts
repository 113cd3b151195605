import { describe, expect, test } from 'vitest';
import { ToolError } from '../../src/lib/errors.ts';
import { cidrLabel, cidrLabels, labelFromCidrText } from '../../src/lib/identity/cidr-labels.ts';
import {
  extendedKey,
  formatForKvstore,
  type Label,
  labelCidr,
  newLabel,
  parseLabel,
} from '../../src/lib/identity/label.ts';
import { formatCidr, parseCidr } from '../../src/lib/identity/label-cidr.ts';
import { labelFaults } from '../../src/lib/identity/label-faults.ts';
import { marshalLabel, unmarshalLabel } from '../../src/lib/identity/label-json.ts';
import { labelEquals, labelHas, labelHasKey, labelsHave } from '../../src/lib/identity/label-match.ts';
import { Labels } from '../../src/lib/identity/labels.ts';
import {
  formatLabelArray,
  formatLabels,
  labelArray,
  labelsModel,
  printableLabels,
} from '../../src/lib/identity/labels-format.ts';
import { compareText } from '../../src/lib/identity/utf8-text.ts';
import { type GoldenOptions, goldenOptions, texts } from './identity-cases.ts';
import { loadTopic } from './load.ts';

interface Input {
  readonly op: string;
  readonly s?: string;
  readonly key?: string;
  readonly value?: string;
  readonly source?: string;
  readonly list?: readonly string[];
  readonly prefix?: string;
  readonly options?: GoldenOptions;
  readonly json?: string;
  readonly label?: string;
  readonly target?: string;
  readonly to?: readonly string[];
  readonly labels?: readonly string[];
  readonly from?: readonly string[];
  readonly a?: readonly string[];
  readonly b?: readonly string[];
}

function labelRow(label: Label) {
  const cidr = labelCidr(label);
  return {
    source: label.source,
    key: label.key,
    value: label.value,
    string: texts([label])[0],
    extendedKey: extendedKey(label),
    kvstore: formatForKvstore(label),
    cidr: cidr === undefined ? null : formatCidr(cidr),
    ...(cidr !== undefined && label.value === '' ? { cidrString: formatCidr(cidr) } : {}),
  };
}

function setRow(labels: Labels) {
  const array = labelArray(labels);
  return {
    labels: Object.fromEntries(
      labels.entries().map(({ mapKey, label: { source, key, value } }) => [mapKey, { source, key, value }]),
    ),
    sortedList: labels.sortedList,
    labelArray: texts(array),
    labelArrayString: formatLabelArray(array),
    model: labelsModel(labels),
    printableModel: printableLabels(labels),
    string: formatLabels(labels),
  };
}

/** Only reading a text complains about a value, too. */
function madeRow(label: Label) {
  const errorsLogged = labelFaults(label).filter((fault) => fault === 'bad-cidr-label').length;
  return { ...labelRow(label), errorsLogged };
}

function orError(make: () => object) {
  try {
    return { ok: true, ...make() };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { ok: false };
  }
}

const parseAll = (list: readonly string[] = []): Labels => Labels.of(list.map(parseLabel));

function run(input: Input): object {
  const { op, s = '', list = [], options = {} } = input;
  switch (op) {
    case 'parseLabel': {
      const label = parseLabel(s);
      return { ...labelRow(label), errorsLogged: labelFaults(label).length };
    }
    case 'newLabel':
      return madeRow(newLabel(input.key ?? '', input.value ?? '', input.source ?? ''));
    case 'newLabelsFromModel':
      return setRow(Labels.parse(list));
    case 'newLabelsFromSortedList': {
      const pieces = s.split(';').map(parseLabel);
      return {
        ...setRow(Labels.fromSortedList(s)),
        arrayFromSortedList: texts(pieces.filter(({ key }) => key !== '')),
      };
    }
    case 'getCIDRLabels': {
      const cidr = parseCidr(input.prefix ?? '');
      if (cidr === undefined) throw new Error(`${input.prefix} is no prefix`);
      const labels = cidrLabels(cidr, goldenOptions(options));
      const own = cidr.length > 0 ? formatCidr(labelCidr(cidrLabel(cidr)) ?? cidr) : undefined;
      const extra = own === undefined ? {} : { cidrPrefix: own, cidrString: own };
      return { ...setRow(labels), ...extra, cidrLabelArray: texts(labelArray(labels)) };
    }
    case 'ipStringToLabel':
      return orError(() => labelRow(labelFromCidrText(s, goldenOptions(options))));
    case 'marshalLabel':
      return { json: marshalLabel(parseLabel(s)) };
    case 'unmarshalLabel':
      return orError(() => madeRow(unmarshalLabel(input.json ?? '')));
    case 'has': {
      const label = parseLabel(input.label ?? '');
      const target = parseLabel(input.target ?? '');
      return {
        has: labelHas(label, target),
        hasKey: labelHasKey(label, target),
        equals: labelEquals(label, target),
        labelsHas: labelsHave(Labels.of([label]), target),
      };
    }
    case 'parseLabelArray': {
      const array = labelArray(list.map(parseLabel));
      return { array: texts(array), string: formatLabelArray(array), asLabels: labelsModel(Labels.of(array)) };
    }
    case 'mergeLabels':
      return { labels: labelsModel(parseAll(input.to).merge(parseAll(input.from))) };
    case 'remove':
      return { labels: labelsModel(parseAll(input.labels).without(parseAll(input.from))) };
    case 'equals':
      return { equals: Labels.parse(input.a ?? []).equals(Labels.parse(input.b ?? [])) };
    default:
      throw new Error(`unknown op ${op}`);
  }
}

/** `error` is Go's text and informational. */
function comparable(expected: Record<string, unknown>): Record<string, unknown> {
  const { error: _error, ...rest } = expected;
  return rest;
}

describe('golden 04 labels', () => {
  for (const { name, input, expect: wanted } of loadTopic<Input>('04-labels').cases) {
    test(name, () => {
      expect(run(input)).toEqual(comparable(wanted));
    });
  }

  test('compareText() orders every key list as Go does', () => {
    const sets = loadTopic<Input, { labelArray?: string[] }>('04-labels').cases.flatMap(({ expect: e }) =>
      e.labelArray === undefined ? [] : [e.labelArray.map((text) => parseLabel(text).key)],
    );
    for (const keys of sets) expect([...keys].reverse().sort(compareText)).toEqual(keys);
  });
});
