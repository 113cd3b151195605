import { describe, expect, it } from 'vitest';
import { scopeForLabels } from '../../../src/lib/identity/label-scope.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { numericIdentity, SCOPE_LOCAL } from '../../../src/lib/identity/numeric-identity.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../../../src/lib/identity/options.ts';
import { ReservedIdentities } from '../../../src/lib/identity/reserved-identities.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { contradicts, KnownLabels } from '../../../src/lib/restore/known-labels.ts';

function known(...records: readonly (readonly [id: number, ...labels: string[]])[]): KnownLabels {
  const list = records.map(([id, ...labels]) => ({ id: numericIdentity(id), labels: Labels.parse(labels) }));
  return new KnownLabels(list, DEFAULT_IDENTITY_OPTIONS);
}

describe('KnownLabels', () => {
  it.each([
    [['cidr:10.0.0.0/24', 'reserved:world-ipv4'], true],
    [['cidr:fd00--0/8', 'reserved:world'], true],
    [['cidr:10.0.0.0/24', 'reserved:world-ipv4', 'reserved:kube-apiserver'], true],
    [['fqdn:example.com', 'reserved:world-ipv6'], true],
    [['reserved:kube-apiserver'], false],
    [['reserved:world-ipv4'], false],
    [['reserved:host', 'cidr:10.0.0.0/24'], false],
    [['reserved:remote-node', 'cidr:10.0.0.0/24'], false],
    [['k8s:app=web', 'reserved:world'], false],
  ])('has the labels %j of a local number: %s, as scope and fixed numbers say', (labels, isKnown) => {
    const set = Labels.parse(labels);
    const reserved = new ReservedIdentities(DEFAULT_IDENTITY_OPTIONS);
    expect(scopeForLabels(set) === SCOPE_LOCAL && reserved.lookupByLabels(set) === undefined).toBe(isKnown);
    const { size, rescoped } = known([16777217, ...labels]);
    expect([size, rescoped]).toEqual(isKnown ? [1, []] : [0, [16777217]]);
  });

  it('numberOf() gives the first number of a label set, whichever world label it has', () => {
    const labels = known(
      [16777217, 'cidr:10.0.0.0/24', 'reserved:world'],
      [16777218, 'cidr:10.0.0.0/24', 'reserved:world-ipv4'],
      [16777219, 'cidr:10.0.1.0/24', 'reserved:world-ipv4'],
      [33554433, 'fqdn:x', 'reserved:world'],
    );
    const numberOf = (...texts: string[]) => labels.numberOf(Labels.parse(texts));
    expect(numberOf('cidr:10.0.0.0/24', 'reserved:world-ipv4')).toBe(16777217);
    expect(numberOf('cidr:10.0.1.0/24', 'reserved:world')).toBe(16777219);
    expect(numberOf('fqdn:x', 'reserved:world-ipv6')).toBe(33554433);
    expect(numberOf('cidr:10.0.2.0/24', 'reserved:world')).toBeUndefined();
    expect([labels.isEmpty, known().isEmpty, known([16777217, 'k8s:a=b']).isEmpty]).toEqual([false, true, true]);
  });
});

describe('contradicts()', () => {
  it.each([
    ['10.0.0.0/24', ['cidr:10.0.0.0/24', 'reserved:world'], false],
    ['10.0.0.0/24', ['cidr:10.0.0.0/16', 'reserved:world'], false],
    ['10.0.0.0/24', ['cidr:10.0.0.0/25', 'reserved:world'], true],
    ['10.0.0.0/24', ['cidr:10.0.1.0/24', 'reserved:world'], true],
    ['10.0.0.0/24', ['cidr:10.0.0.0/24', 'cidr:10.0.1.0/24'], true],
    ['fd00::/8', ['cidr:fd00--0/8', 'reserved:world'], false],
    ['fd00::/8', ['cidr:fe00--0/8', 'reserved:world'], true],
    ['10.0.0.0/24', ['fqdn:x', 'reserved:world'], false],
  ])('of %s and %j is %s', (prefix, labels, expected) => {
    expect(contradicts(parsePrefix(prefix), Labels.parse(labels))).toBe(expected);
  });
});
