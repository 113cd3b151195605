/** Texts of allocator checkpoints as agents, editors and other programs may leave them. */
import fc from 'fast-check';

interface RecordText {
  readonly id: number;
  readonly labels: Readonly<Record<string, unknown>>;
}

/** Few numbers, so that some occur twice, and some of them also as digits inside of labels. */
export const CHECKPOINT_IDS = [16777217, 16777218, 16777300, 33554433, 1677721, 167772170] as const;

const word = fc.constantFrom('10.0.0.0/8', 'world-ipv4', '16777217', '{"id":16777218,', 'a=b', 'x;y', 'é', '\u001b[2J');
const label = fc.record(
  { key: word, source: fc.constantFrom('cidr', 'reserved', 'k8s', 'fqdn'), value: word },
  { requiredKeys: ['key', 'source'] },
);
const labels = fc
  .array(label, { minLength: 1, maxLength: 3 })
  .map((list) => Object.fromEntries(list.map((l) => [l.key, l])));
const records: fc.Arbitrary<RecordText[]> = fc.array(fc.record({ id: fc.constantFrom(...CHECKPOINT_IDS), labels }), {
  maxLength: 5,
});

/** Ways to write one list of records down. */
const STYLES: readonly ((list: RecordText[]) => string)[] = [
  (list) => `${JSON.stringify(list)}\n`,
  (list) => JSON.stringify(list, undefined, 2),
  (list) => JSON.stringify(list.map(({ id, labels: set }) => ({ labels: set, id }))),
  (list) => JSON.stringify(list.map(({ id, labels: set }) => ({ ID: id, labels: set }))),
  (list) =>
    JSON.stringify(list.map(({ id, labels: set }) => ({ was: [{ id: 16777300, labels: set }], id, labels: set }))),
  (list) => JSON.stringify(list.map(({ id, labels: set }, i) => (i % 2 ? { labels: set, id } : { id, labels: set }))),
];

export const checkpointTexts: fc.Arbitrary<string> = fc
  .tuple(records, fc.nat(STYLES.length - 1))
  .map(([list, style]) => STYLES[style]?.(list) ?? '');
