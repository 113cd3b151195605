/** A server on a unix socket that answers as a cilium-agent would, or badly. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The body of an answer 200, a status, or whatever it does with the request. */
export type FakeAnswer = string | number | ((request: IncomingMessage, response: ServerResponse) => void);

export interface FakeAgent extends AsyncDisposable {
  readonly socket: string;
  /** What was asked for, below `/v1`. */
  readonly asked: string[];
}

/** @param answers by path below `/v1`, without the query; 404 for all others */
export async function fakeAgent(answers: Readonly<Record<string, FakeAnswer>>): Promise<FakeAgent> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ipc-agent-'));
  const socket = path.join(folder, 'agent.sock');
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = (request.url ?? '').replace(/^\/v1/, '');
    asked.push(url);
    const answer = answers[url.replace(/\?.*/, '')] ?? 404;
    if (typeof answer === 'function') answer(request, response);
    else if (typeof answer === 'number') response.writeHead(answer).end();
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    socket,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
