import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/lib/errors.ts';
import { formatSourceRef, parseSourceRef, parseSourceRefs } from '../../../src/lib/sources/source-ref.ts';

describe('parseSourceRef()', () => {
  test.each([
    ['ndjson:-', { kind: 'ndjson', path: '-' }, 'api'],
    ['ndjson:/run/a:b.ndjson', { kind: 'ndjson', path: '/run/a:b.ndjson' }, 'api'],
    ['unix:/run/feed.sock', { kind: 'unix', path: '/run/feed.sock' }, 'api'],
    ['etcd:/etc/etcd.yaml', { kind: 'etcd', file: '/etc/etcd.yaml' }, 'kvstore'],
    ['etcd:https://a:2379,https://b:2379', { kind: 'etcd', urls: ['https://a:2379', 'https://b:2379'] }, 'kvstore'],
    ['k8s', { kind: 'k8s', kubeconfig: undefined }, 'custom-resource'],
    ['k8s:/root/.kube/config', { kind: 'k8s', kubeconfig: '/root/.kube/config' }, 'custom-resource'],
    ['agent', { kind: 'agent', socket: undefined }, 'api'],
    ['agent:/var/run/cilium/cilium.sock', { kind: 'agent', socket: '/var/run/cilium/cilium.sock' }, 'api'],
    ['listen', { kind: 'listen', socket: undefined }, 'api'],
    ['snapshot:before.ndjson.gz', { kind: 'snapshot', path: 'before.ndjson.gz' }, 'restored'],
  ])('reads %s', (text, target, rank) => {
    const ref = parseSourceRef(text);
    expect(ref).toEqual({ target, name: text, rank });
    expect(formatSourceRef(ref)).toBe(text);
  });

  test('takes a name and a rank before the source, in any order', () => {
    const ref = parseSourceRef('rank=clustermesh,name=east,etcd:https://a:2379,https://b:2379');
    expect(ref).toEqual({
      target: { kind: 'etcd', urls: ['https://a:2379', 'https://b:2379'] },
      name: 'east',
      rank: 'clustermesh',
    });
    expect(formatSourceRef(ref)).toBe('name=east,rank=clustermesh,etcd:https://a:2379,https://b:2379');
  });

  test.each([
    ['', 'it is empty'],
    ['-', 'it does not say what to read'],
    ['/tmp/x.snap', 'a path alone is no source'],
    ['https://a:2379', 'an URL alone is no source'],
    ['kafka:x', '"kafka:x" is no kind of source'],
    ['ndjson', 'ndjson: needs something behind it'],
    ['ndjson:', 'ndjson: needs something behind it'],
    ['agent:', 'nothing follows agent:'],
    ['name=x', 'name= and rank= stand before the source they belong to'],
    ['ndjson:-,name=x', 'name= and rank= stand before the source they belong to'],
    ['name=,k8s', 'name= needs a name'],
    ['name=a,name=b,k8s', 'name= is given twice'],
    ['rank=best,k8s', 'rank "best" is none of kube-apiserver, local,'],
    ['k8s,agent', 'one source is wanted'],
    ['snapshot:a\0b', 'a path cannot have a NUL in it'],
  ])('refuses %j', (text, state) => {
    let error: unknown;
    try {
      parseSourceRef(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(UsageError);
    const { message, hint, code } = error as UsageError;
    expect(message).toContain(`as a source: ${state}`);
    expect(hint).toContain('sources are ndjson:-|PATH, unix:PATH, etcd:FILE|URL[,URL], k8s[:KUBECONFIG]');
    expect(code).toBe('BAD_SOURCE');
  });

  test('says what a bare path may have meant', () => {
    expect(() => parseSourceRef('/tmp/x')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('did you mean snapshot:/tmp/x or ndjson:/tmp/x?') }),
    );
  });
});

test('parseSourceRefs() splits a comma list, URLs stay with their etcd', () => {
  const refs = parseSourceRefs('etcd:http://a,http://b,name=mesh,rank=clustermesh,etcd:http://c,agent,ndjson:-');
  expect(refs.map(formatSourceRef)).toEqual([
    'etcd:http://a,http://b',
    'name=mesh,rank=clustermesh,etcd:http://c',
    'agent',
    'ndjson:-',
  ]);
});
