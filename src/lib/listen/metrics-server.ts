/** `--metrics ADDR`: /metrics, /healthz and /readyz for whoever can reach the address. Nothing can be changed here. */
import type * as Http from 'node:http';
import { UsageError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';
import type { AgentLoop } from './agent-loop.ts';
import type { LoopMetrics } from './loop-metrics.ts';

export interface MetricsServerSetup {
  readonly metrics: LoopMetrics;
  readonly loop: () => AgentLoop | undefined;
  /** `ADDR:PORT`, `[ADDR6]:PORT` or `:PORT`. */
  readonly address: string;
}

const MOST_CONNECTIONS = 64;
const TIMEOUT_MS = 10_000;

export class MetricsServer {
  readonly #setup: MetricsServerSetup;
  #server: Http.Server | undefined;

  constructor(setup: MetricsServerSetup) {
    this.#setup = setup;
  }

  /** The port that is listened on, where 0 was asked for. */
  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  /** @throws {UsageError} BAD_ADDRESS @throws {ToolError} the address is taken or not ours */
  async start(): Promise<void> {
    const { createServer } = require('node:http') as typeof Http;
    const { host, port } = parseListenAddress(this.#setup.address);
    const server = createServer({ maxHeaderSize: 16_384, requestTimeout: TIMEOUT_MS }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    server.maxConnections = MOST_CONNECTIONS;
    server.headersTimeout = TIMEOUT_MS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) =>
        reject(errnoOf(cause) === undefined ? cause : fileError('listen on', this.#setup.address, cause)),
      );
      server.listen({ port, ...(host !== undefined && { host }) }, resolve);
    });
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async #answer({ method, url = '/' }: Http.IncomingMessage, response: Http.ServerResponse): Promise<void> {
    const { metrics, loop } = this.#setup;
    const send = (status: number, text: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type });
      response.end(method === 'HEAD' ? undefined : text);
    };
    if (method !== 'GET' && method !== 'HEAD') return send(405, 'only GET\n');
    const path = url.split('?')[0];
    if (path === '/metrics') return send(200, await metrics.text(), metrics.contentType);
    const present = loop();
    if (path === '/healthz') {
      const isAlive = present !== undefined && present.phase !== 'stopped';
      return send(isAlive ? 200 : 503, `${present?.phase ?? 'starting'}\n`);
    }
    if (path === '/readyz') return send(present?.isReady ? 200 : 503, present?.isReady ? 'ready\n' : 'not ready\n');
    send(404, 'no such path: /metrics, /healthz, /readyz\n');
  }
}

/** @throws {UsageError} BAD_ADDRESS */
export function parseListenAddress(text: string): { readonly host?: string; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]:]*)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3] ?? Number.NaN);
  if (match === null || !(port <= 65_535)) {
    throw new UsageError(`Cannot listen on ${JSON.stringify(text)}: not ADDR:PORT`, {
      code: 'BAD_ADDRESS',
      hint: 'write 127.0.0.1:9099, [::1]:9099 or :9099',
    });
  }
  const host = match[1] ?? match[2];
  return host === undefined || host === '' ? { port } : { host, port };
}
