import { describe, expect, test } from 'vitest';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { EventFault } from '../../../src/lib/sources/event-fault.ts';
import { parseEventLine } from '../../../src/lib/sources/event-line.ts';

const parse = (value: unknown) => parseEventLine(typeof value === 'string' ? value : JSON.stringify(value), 'api');

describe('parseEventLine() reads our own events', () => {
  test('upsert', () => {
    expect(
      parse({
        op: 'upsert',
        prefix: '10.12.0.7',
        identity: 41234,
        hostIP: '192.0.2.10',
        encryptKey: 3,
        endpointFlags: ['remotecluster', 'skiptunnel'],
        source: 'kvstore',
        pod: { namespace: 'shop', name: 'cart-0', namedPorts: { HTTP: { port: 80, protocol: 'tcp' } } },
      }),
    ).toEqual({
      op: 'upsert',
      record: {
        key: '10.12.0.7',
        identity: 41234,
        source: 'kvstore',
        hostIP: '192.0.2.10',
        encryptKey: 3,
        endpointFlags: 9,
        pod: { namespace: 'shop', name: 'cart-0', namedPorts: { http: { port: 80, protocol: 'TCP' } } },
      },
    });
  });

  test('upsert masks host bits, unmaps addresses and takes the source of the input', () => {
    expect(parse({ op: 'upsert', prefix: '10.12.0.7/16', identity: 9, hostIP: '::ffff:192.0.2.1' })).toMatchObject({
      record: { key: '10.12.0.0/16', source: 'api', hostIP: '192.0.2.1', pod: undefined },
    });
    expect(parse({ op: 'upsert', prefix: '10.0.0.1', identity: 9, hostIP: '' })).toMatchObject({
      record: { hostIP: undefined },
    });
  });

  test('delete', () => {
    expect(parse({ op: 'delete', prefix: '10.12.0.7', expectIdentity: 41234, source: 'kvstore' })).toEqual({
      op: 'delete',
      key: '10.12.0.7',
      source: 'kvstore',
      expectIdentity: 41234,
    });
  });

  test('upsertMetadata', () => {
    expect(
      parse({
        op: 'upsertMetadata',
        prefix: '192.0.2.0/24',
        resource: 'cnp/shop/allow-db',
        source: 'custom-resource',
        labels: ['cidr:192.0.2.0/24'],
        tunnelPeer: '192.0.2.10',
        encryptKey: 3,
        endpointFlags: ['skiptunnel'],
        requestedIdentity: 16777217,
      }),
    ).toEqual({
      op: 'upsertMetadata',
      update: {
        prefix: parsePrefix('192.0.2.0/24'),
        source: 'custom-resource',
        resource: 'cnp/shop/allow-db',
        info: {
          labels: Labels.parse(['cidr:192.0.2.0/24']),
          tunnelPeer: '192.0.2.10',
          encryptKey: 3,
          endpointFlags: 1,
          requestedIdentity: 16777217,
        },
      },
    });
  });

  test('removeMetadata, overrideIdentity and synced', () => {
    expect(parse({ op: 'removeMetadata', prefix: '192.0.2.0/24', resource: 'cnp/a/b', what: ['labels'] })).toEqual({
      op: 'removeMetadata',
      removal: { prefix: parsePrefix('192.0.2.0/24'), resource: 'cnp/a/b', what: ['labels'] },
    });
    expect(
      parse({
        op: 'overrideIdentity',
        prefix: '192.0.2.9/32',
        resource: 'daemon//x',
        source: 'local',
        labels: ['reserved:ingress'],
      }),
    ).toMatchObject({
      op: 'upsertMetadata',
      update: { info: { labels: Labels.parse(['reserved:ingress']), identityOverride: true } },
    });
    expect(parse({ op: 'synced' })).toEqual({ op: 'synced' });
    expect(parse('')).toBeUndefined();
    expect(parse('  \r')).toBeUndefined();
  });
});

describe("parseEventLine() reads Cilium's own shapes", () => {
  test('an IP identity pair without a mask is an endpoint, with one a prefix', () => {
    expect(parse({ IP: '10.0.0.1', Mask: null, HostIP: '', ID: 1000, Key: 3, K8sNamespace: 'ns' })).toMatchObject({
      op: 'upsert',
      record: { key: '10.0.0.1', identity: 1000, source: 'api', encryptKey: 3, pod: { namespace: 'ns', name: '' } },
    });
    expect(parse({ IP: '10.0.1.7', Mask: '////AA==', ID: 1 })).toMatchObject({
      record: { key: '10.0.1.0/24', identity: 6, hostIP: undefined },
    });
  });

  test.each([
    [{ IP: null, ID: 5 }, 'IP'],
    [{ IP: '10.0.0.1' }, 'ID'],
    [{ IP: '10.0.0.1', ID: -1 }, ''],
    [{ IP: '10.0.1.0', Mask: '/wD/AA==', ID: 5 }, 'Mask'],
    [{ IP: '10.0.1.0', Mask: '////////////////AAAAAA==', ID: 5 }, 'IP'],
  ])('refuses the pair %j', (pair, field) => {
    expect(() => parse(pair)).toThrow(expect.objectContaining({ field }));
    expect(() => parse(pair)).toThrow(EventFault);
  });

  test('monitor messages about the ipcache, others are passed over', () => {
    const message = { cidr: '10.0.0.1/32', id: 1000, 'old-id': 3, 'host-ip': '192.0.2.1', 'encrypt-key': 7 };
    expect(parse({ type: 'agent', subtype: 'IPCache entry upserted', message })).toMatchObject({
      op: 'upsert',
      record: { key: '10.0.0.1/32', identity: 1000, hostIP: '192.0.2.1', encryptKey: 7, pod: undefined },
    });
    expect(parse({ type: 'agent', subtype: 'IPCache entry deleted', message })).toEqual({
      op: 'delete',
      key: '10.0.0.1/32',
      source: 'api',
      expectIdentity: 1000,
    });
    expect(parse({ type: 'agent', subtype: 'Policy updated', message: {} })).toBeUndefined();
    expect(parse({ type: 'L7' })).toBeUndefined();
  });
});

describe('parseEventLine() refuses', () => {
  test.each([
    ['{"op":"upsert"', '', 'is not JSON'],
    ['[]', '', 'is not a JSON object'],
    ['{}', '', 'is neither an event'],
    [{ op: 'insert' }, 'op', 'is "insert", which is no operation'],
    [{ op: 'upsert', prefix: '10.0.0.1', identity: 1, encryptkey: 3 }, 'encryptkey', 'is not a field of this event'],
    [{ op: 'upsert', prefix: '10.0.0.0/33', identity: 1 }, 'prefix', 'length "33" is not a number from 0 to 32'],
    [{ op: 'upsert', prefix: 7, identity: 1 }, 'prefix', 'is not a text'],
    [{ op: 'upsert', prefix: '10.0.0.1' }, 'identity', 'is not a whole number from 0 to 4294967295'],
    [{ op: 'upsert', prefix: '10.0.0.1', identity: 4294967296 }, 'identity', 'is not a whole number'],
    [{ op: 'upsert', prefix: '10.0.0.1', identity: 1, encryptKey: 256 }, 'encryptKey', 'from 0 to 255'],
    [{ op: 'upsert', prefix: '10.0.0.1', identity: 1, hostIP: 'n1' }, 'hostIP', 'is not an IP address'],
    [{ op: 'upsert', prefix: '10.0.0.1', identity: 1, source: 'etcd' }, 'source', 'is not the name of a Cilium source'],
    [{ op: 'upsert', prefix: '10.0.0.1', identity: 1, endpointFlags: ['x'] }, 'endpointFlags', 'has "x"'],
    [{ op: 'upsert', prefix: '10.0.0.1', identity: 1, pod: 'a/b' }, 'pod', 'is not an object'],
    [{ op: 'removeMetadata', prefix: '10.0.0.1', resource: 'a/b/c', what: ['label'] }, 'what', 'has "label"'],
    [{ op: 'removeMetadata', prefix: '10.0.0.1', resource: 'a/b/c', what: [] }, 'what', 'is empty'],
    [{ op: 'upsertMetadata', prefix: '10.0.0.1', resource: 'abc', labels: [] }, 'resource', 'kind/namespace/name'],
    [{ op: 'upsertMetadata', prefix: '10.0.0.1', resource: 'a/b/c', labels: ['k8s:a', 'fqdn:a'] }, 'labels', 'twice'],
    [{ op: 'synced', now: true }, 'now', 'is not a field of this event'],
  ])('%j', (line, field, problem) => {
    let fault: unknown;
    try {
      parse(line);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(EventFault);
    expect(fault).toMatchObject({ field, message: expect.stringContaining(problem) });
  });

  test('op 47 a number of another cluster than that of the prefix, and local numbers of other nodes', () => {
    const upsert = (prefix: string, identity: number) => parse({ op: 'upsert', prefix, identity });
    expect(() => upsert('10.0.0.1@2', 106300)).toThrow('106300 is of cluster 1, not of cluster 2');
    expect(() => upsert('10.0.0.0/24@2', 16777217)).toThrow('16777217 is of local scope');
    expect(upsert('10.0.0.1@2', 131073)).toMatchObject({ record: { identity: 131073 } });
    expect(upsert('10.0.0.1@2', 6)).toMatchObject({ record: { identity: 6 } });
    expect(upsert('10.0.0.1', 106300)).toMatchObject({ record: { identity: 106300 } });
  });
});
