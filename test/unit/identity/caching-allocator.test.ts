import { describe, expect, test } from 'vitest';
import { RefusedError } from '../../../src/lib/errors.ts';
import { CachingAllocator, type IdentityRecord } from '../../../src/lib/identity/caching-allocator.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';

const record = (id: number, ...labels: string[]): IdentityRecord => ({
  id: numericIdentity(id),
  labels: Labels.parse(labels),
});
const TEN = ['cidr:10.0.0.0/8', 'reserved:world-ipv4'];
const twice = [record(16777221, ...TEN), record(16777225, ...TEN)];

describe('CachingAllocator', () => {
  test('drops both references of two records with equal labels', () => {
    const allocator = new CachingAllocator();
    allocator.restoreLocalIdentities(twice);
    expect(allocator.lookupById(16777221)?.refCount).toBe(2);
    expect(allocator.releaseRestoredIdentities()).toEqual([16777221]);
    expect(allocator.size).toBe(0);
  });

  test('leaks one of them with strictUpstream', () => {
    const allocator = new CachingAllocator({ strictUpstream: true });
    allocator.restoreLocalIdentities(twice);
    expect(allocator.releaseRestoredIdentities()).toEqual([]);
    expect(allocator.lookupById(16777221)?.refCount).toBe(1);
  });

  test('keeps what an owner took meanwhile, and releasing again does nothing', () => {
    const allocator = new CachingAllocator();
    allocator.restoreLocalIdentities(twice);
    allocator.allocateLocalIdentity(Labels.parse(TEN));
    expect(allocator.releaseRestoredIdentities()).toEqual([]);
    expect(allocator.releaseRestoredIdentities()).toEqual([]);
    expect(allocator.lookupById(16777221)?.refCount).toBe(1);
  });

  test('op 34 a rescoped record is passed over with a warning and the rest goes on', () => {
    const warnings: [string, number][] = [];
    const allocator = new CachingAllocator({ onWarning: (message, id) => warnings.push([message, id]) });
    const restored = allocator.restoreLocalIdentities([record(33554433, ...TEN), record(16777217, ...TEN)]);
    expect([...(restored?.keys() ?? [])]).toEqual([16777217]);
    expect(warnings).toEqual([['not restored: its labels do not belong to the scope of its number', 33554433]]);
    expect(allocator.remoteNode.withheld.size).toBe(0);
  });

  test('says when a number was taken and another had to be given', () => {
    const warnings: string[] = [];
    const allocator = new CachingAllocator({ onWarning: (message) => warnings.push(message) });
    allocator.restoreLocalIdentities([record(16777221, ...TEN), record(16777221, 'cidr:11.0.0.0/8')]);
    expect(warnings).toEqual(['restored as 16777217: its number was taken']);
  });

  test('refuses labels that need a global number, and names them', () => {
    const allocator = new CachingAllocator();
    const attempt = () => allocator.allocateLocalIdentity(Labels.parse(['k8s:app=x']));
    expect(attempt).toThrow(RefusedError);
    expect(attempt).toThrow(expect.objectContaining({ code: 'NON_LOCAL_LABELS', operands: { labels: 'k8s:app=x;' } }));
  });

  test('withhold() reports numbers of neither scope', () => {
    const ids = [5, 16777217, 33554433, 50331649].map(numericIdentity);
    expect(new CachingAllocator().withhold(ids)).toEqual([5, 50331649]);
  });

  test('restoring nothing is nothing', () => {
    expect(new CachingAllocator().restoreLocalIdentities([])).toBeUndefined();
    expect(new CachingAllocator().restoreLocalIdentities(undefined)).toBeUndefined();
  });
});
