import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/lib/errors.ts';
import { LoopMetrics } from '../../../src/lib/listen/loop-metrics.ts';
import { MetricsServer, parseListenAddress } from '../../../src/lib/listen/metrics-server.ts';

describe('parseListenAddress()', () => {
  it.each([
    ['127.0.0.1:9099', { host: '127.0.0.1', port: 9099 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    [':65535', { port: 65_535 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
  ])('%s', (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
  });

  it.each(['', '9099', ':', ':65536', '127.0.0.1', '::1:9099', '[::1]', '[x]:1', 'a:b', ':-1'])(
    'refuses %j',
    (text) => {
      expect(() => parseListenAddress(text)).toThrow(UsageError);
    },
  );
});

describe('MetricsServer', () => {
  it('answers before there is a loop, and only to GET and HEAD', async () => {
    const metrics = new LoopMetrics(() => undefined);
    const server = new MetricsServer({ metrics, loop: () => undefined, address: '127.0.0.1:0' });
    await server.start();
    const base = `http://127.0.0.1:${server.port}`;
    const ask = async (method: string, path: string) => {
      const response = await fetch(base + path, { method });
      return [response.status, (await response.text()).length > 0];
    };
    try {
      expect(await ask('GET', '/metrics?x=1')).toEqual([200, true]);
      expect(await ask('HEAD', '/metrics')).toEqual([200, false]);
      expect(await ask('GET', '/healthz')).toEqual([503, true]);
      expect(await ask('GET', '/readyz')).toEqual([503, true]);
      expect(await ask('GET', '/')).toEqual([404, true]);
      expect(await ask('POST', '/metrics')).toEqual([405, true]);
      const taken = new MetricsServer({ metrics, loop: () => undefined, address: `127.0.0.1:${server.port}` });
      await expect(taken.start()).rejects.toThrow(/^Cannot listen on 127\.0\.0\.1:\d+: EADDRINUSE/);
    } finally {
      await server.stop();
    }
  });
});
