/** A cilium-agent whose memory, health and events a test writes by hand. */
import type { ServerResponse } from 'node:http';
import { type FakeAnswer, fakeAgent } from './fake-agent.ts';

export const HEALTHY = JSON.stringify({ cilium: { state: 'Ok' }, kubernetes: { state: 'Ok' } });
const value = (identity: number) => `identity=${identity} encryptkey=0 tunnelendpoint=192.0.2.9 flags=hastunnel`;
const listed = (entries: Record<string, number>) =>
  JSON.stringify({
    cache: Object.entries(entries).map(([key, id]) => ({ key, value: value(id), 'desired-action': 'sync' })),
  });

/** An agent with a memory of its map and, unless told otherwise, a stream of events. */
export class ScriptedAgent implements AsyncDisposable {
  entries: Record<string, number> = { '10.0.0.1/32': 1001, '10.0.0.2/32': 1002 };
  health: FakeAnswer = HEALTHY;
  /** Called before each listing, with how many there were. */
  beforeListing: (listings: number) => void = () => {};
  listings = 0;
  hasEvents = true;
  hasCache = true;
  readonly streams = new Set<ServerResponse>();
  readonly #past: string[] = [];
  #server: Awaited<ReturnType<typeof fakeAgent>> | undefined;

  async start(): Promise<void> {
    this.#server = await fakeAgent({
      '/healthz': (request, response) =>
        typeof this.health === 'function' ? this.health(request, response) : void response.end(this.health),
      '/map/cilium_ipcache_v2': (_request, response) => {
        this.beforeListing(this.listings++);
        response.end(this.hasCache ? listed(this.entries) : '{"path":"/x"}');
      },
      '/ip': (_request, response) => {
        this.beforeListing(this.listings++);
        response.end(JSON.stringify(Object.entries(this.entries).map(([cidr, identity]) => ({ cidr, identity }))));
      },
      '/map/cilium_ipcache_v2/events': (_request, response) => {
        if (!this.hasEvents) {
          response.writeHead(404).end();
          return;
        }
        response.write(this.#past.join(''));
        this.streams.add(response);
        response.on('close', () => this.streams.delete(response));
      },
    });
  }

  get socket(): string {
    if (this.#server === undefined) throw new Error('the agent is not started');
    return this.#server.socket;
  }

  /** Something the agent does to its map, told to whoever listens. */
  event(action: string, key: string, identity?: number, age = 0): void {
    const timestamp = new Date(Date.now() - age).toISOString();
    const text = identity === undefined ? '<nil>' : value(identity);
    const line = `${JSON.stringify({ timestamp, key, value: text, action, 'desired-action': 'sync' })}\n`;
    this.#past.push(line);
    for (const stream of this.streams) stream.write(line);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}
