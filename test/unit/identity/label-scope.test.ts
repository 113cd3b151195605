import { describe, expect, it } from 'vitest';
import { needsGlobalIdentity } from '../../../src/lib/identity/label-scope.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';

describe('needsGlobalIdentity()', () => {
  it.each([
    [['k8s:app=shop'], true],
    [['cidr:10.0.0.0/8', 'k8s:app=shop'], true],
    [['any:x'], true],
    [[], false],
    [['cidr:10.0.0.0/8', 'reserved:world'], false],
    [['fqdn:example.org', 'cidrgroup:a'], false],
    [['node:zone=a'], false],
    // What makes a reserved identity of them may be known elsewhere.
    [['k8s:io.cilium.fixed-identity=kube-dns'], false],
    [['reserved:host', 'k8s:app=shop'], false],
  ] as const)('%j: %s', (labels, needs) => {
    expect(needsGlobalIdentity(Labels.parse(labels))).toBe(needs);
  });
});
