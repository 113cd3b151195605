/**
 * The control socket: ours under /ipc/v1, and what clients of an agent ask for in the agent's shapes. Only this user and
 * root may connect. The Server header tells an `ipc` from an agent.
 */

import type * as Http from 'node:http';
import type { Socket } from 'node:net';
import type Router from 'find-my-way';
import { RefusedError, UsageError } from '../../errors.ts';
import { parsePrefix } from '../../net/prefix.ts';
import { isTrustedPeer, listenUnix } from '../../sources/unix-server.ts';
import type { AgentLoop } from '../agent-loop.ts';
import type { LoopParts } from '../loop-parts.ts';
import { loopStatus } from '../loop-status.ts';
import { identityById, identityList, ipList, readLabelFilter } from './agent-shapes.ts';
import { answerError, answerJson, answerPieces, readBody } from './answer.ts';
import { answerCollection } from './collect-request.ts';
import { dumpLines } from './dump-lines.ts';
import { LIMITS } from './limits.ts';
import { takeEvents } from './take-events.ts';

export interface ControlServerSetup {
  readonly loop: AgentLoop;
  readonly path: string;
  readonly version: string;
  /** Of this process. */
  readonly uid: number;
  /** Something that is no expected failure. */
  readonly onBug: (error: unknown) => void;
  readonly onRefused: (reason: string) => void;
}

const BROKEN_OFF: readonly unknown[] = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'];

type Handler = (call: Call) => void | Promise<void>;

interface Call {
  readonly request: Http.IncomingMessage;
  readonly response: Http.ServerResponse;
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string | undefined>>;
}

export class ControlServer {
  readonly #setup: ControlServerSetup;
  #server: Http.Server | undefined;

  constructor(setup: ControlServerSetup) {
    this.#setup = setup;
  }

  /** @throws {LockedError} another process listens there @throws {ToolError} what the file system answers */
  async start(): Promise<void> {
    const { createServer } = require('node:http') as typeof Http;
    const { path, version, uid, onRefused } = this.#setup;
    const router = this.#router();
    const server = createServer(
      { maxHeaderSize: LIMITS.headerBytes, connectionsCheckingInterval: LIMITS.checkIntervalMs },
      (request, response) => {
        response.setHeader('server', `ipc/${version}`);
        router.lookup(request, response);
      },
    );
    server.maxConnections = LIMITS.connections;
    server.headersTimeout = LIMITS.headersTimeoutMs;
    server.requestTimeout = LIMITS.requestTimeoutMs;
    server.keepAliveTimeout = LIMITS.keepAliveTimeoutMs;
    server.on('connection', (socket: Socket) => {
      if (isTrustedPeer(socket, uid)) return;
      onRefused('it is of another user');
      socket.destroy();
    });
    await listenUnix(server, path);
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  #router(): Router.Instance<Router.HTTPVersion.V1> {
    const make = require('find-my-way') as typeof Router;
    const router = make({
      maxParamLength: 64,
      defaultRoute: (_, response) => {
        answerJson(response, { error: { code: 'NOT_FOUND', message: 'Cannot answer: no such path or method' } }, 404);
      },
    });
    const on = (method: 'GET' | 'POST', path: string, handler: Handler): void => {
      router.on(method, path, (request, response, params, _store, query) => {
        this.#handle(handler, { request, response, params, query: query as Call['query'] });
      });
    };
    on('GET', '/ipc/v1/status', ({ response }) =>
      answerJson(response, { kind: 'listen-status', schemaVersion: 1, ...loopStatus(this.#setup.loop) }),
    );
    on('GET', '/ipc/v1/dump', ({ response, query: { prefix } }) => {
      const only = prefix === undefined ? undefined : parsePrefix(prefix);
      return answerPieces(response, 'application/x-ndjson', dumpLines(this.#setup.loop, this.#parts, only));
    });
    on('POST', '/ipc/v1/release', async ({ response }) => {
      const { releaser } = this.#parts;
      const { length } = releaser.placeholders;
      await releaser.release();
      answerJson(response, { released: length });
    });
    on('POST', '/ipc/v1/gc', ({ response, query }) => answerCollection(response, query, this.#parts.collector));
    on('POST', '/ipc/v1/events', async ({ request, response }) => {
      answerJson(response, await takeEvents(request, this.#parts.sources.direct));
    });
    on('GET', '/v1/healthz', ({ response }) => {
      const { phase, isReady } = this.#setup.loop;
      answerJson(response, { cilium: { state: isReady ? 'Ok' : 'Warning', msg: `ipc listen, phase ${phase}` } });
    });
    on('GET', '/v1/ip', (call) => this.#ips(call));
    on('GET', '/v1/identity', async ({ request, response }) => {
      const labels = readLabelFilter(await readBody(request));
      answerList(response, identityList(this.#parts.allocator, labels));
    });
    on('GET', '/v1/identity/:id', ({ response, params: { id = '' } }) => {
      if (!/^\d{1,10}$/.test(id))
        throw new UsageError(`Cannot read identity ${id}: not a number`, { code: 'BAD_IDENTITY' });
      const identity = identityById(this.#parts.allocator, Number(id));
      if (identity === undefined) answerEmpty(response);
      else answerJson(response, identity);
    });
    return router;
  }

  async #ips({ request, response, query: { cidr } }: Call): Promise<void> {
    const within = cidr === undefined || cidr === '' ? undefined : parsePrefix(cidr);
    const labels = readLabelFilter(await readBody(request));
    const { cache, allocator } = this.#parts;
    const list = ipList(cache, allocator, { within, labels });
    const first = list.next();
    if (first.done) {
      answerEmpty(response);
      return;
    }
    await answerPieces(response, 'application/json', jsonList(first.value, list));
  }

  get #parts(): LoopParts {
    const { parts, phase } = this.#setup.loop;
    if (parts !== undefined) return parts;
    throw new RefusedError(`Cannot answer yet: listen is in phase ${phase}`, {
      code: 'NOT_READY',
      hint: 'ask again in a moment; /ipc/v1/status tells the phase',
    });
  }

  #handle(handler: Handler, call: Call): void {
    Promise.resolve()
      .then(() => handler(call))
      .catch((error: unknown) => {
        if (call.response.destroyed || hasBrokenOff(error) || answerError(call.response, error)) return;
        call.response.destroy();
        this.#setup.onBug(error);
      });
  }
}

/** The agent says 404 for a list without anything in it. */
function answerList(response: Http.ServerResponse, list: readonly unknown[]): void {
  if (list.length === 0) answerEmpty(response);
  else answerJson(response, list);
}

/** The client went away while its request was read. */
function hasBrokenOff(error: unknown): boolean {
  return error instanceof Error && 'code' in error && BROKEN_OFF.includes(error.code);
}

function answerEmpty(response: Http.ServerResponse): void {
  response.writeHead(404, { 'content-length': 0 });
  response.end();
}

function* jsonList(first: object, rest: Iterable<object>): Generator<string> {
  yield `[${JSON.stringify(first)}`;
  for (const item of rest) yield `,${JSON.stringify(item)}`;
  yield ']\n';
}
