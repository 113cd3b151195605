import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/lib/errors.ts';
import { labelsSatisfy, parseLabelSelector, parseLabelSelectors } from '../../../src/lib/identity/label-selector.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';

const LABELS = Labels.parse(['k8s:app=web', 'k8s:url=a:b', 'cidr:10.1.0.0/16', 'reserved:world-ipv4', 'fqdn:*.a.io']);
const matches = (...texts: string[]) => labelsSatisfy(LABELS, parseLabelSelectors(texts));

describe('parseLabelSelector()', () => {
  test.each([
    'k8s:app=web',
    'app=web',
    'any:app=web',
    'k8s:app',
    'app',
    ':app=web',
    'url=a:b',
    'cidr:10.0.0.0/8',
    'cidr:10.1.0.0/16',
    'reserved:world-ipv4',
    '$world-ipv4',
    'world-ipv4',
    'fqdn:*.a.io',
    'fqdn:*.a.io=',
  ])('%s finds the set', (text) => {
    expect(matches(text)).toBe(true);
  });

  test.each([
    'k8s:app=',
    'app=api',
    'container:app=web',
    'cidr:10.1.2.0/24',
    'cidr:11.0.0.0/8',
    'reserved:world',
    'ap',
  ])('%s does not', (text) => {
    expect(matches(text)).toBe(false);
  });

  test.each(['', ':', '=', 'k8s:', 'k8s:=x', '=x', '$'])('refuses %j, which has no key', (text) => {
    expect(() => parseLabelSelector(text)).toThrow(UsageError);
  });
});

describe('parseLabelSelectors()', () => {
  test('wants all of them', () => {
    expect(matches('app=web', 'cidr:10.0.0.0/8')).toBe(true);
    expect(matches('app=web', 'cidr:11.0.0.0/8')).toBe(false);
  });

  test('refuses one key from two sources, or with two values', () => {
    expect(() => parseLabelSelectors(['k8s:app=x', 'container:app=x'])).toThrow('a label set has each key once');
    expect(() => parseLabelSelectors(['app=x', 'app=y'])).toThrow('a label set has each key once');
    expect(parseLabelSelectors(['app', 'k8s:app=x', 'app=x'])).toHaveLength(3);
  });
});
