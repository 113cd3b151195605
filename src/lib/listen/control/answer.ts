/** How the control socket answers: JSON, errors with their code and hint, long lists in pieces. */
import type * as Http from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { MalformedError, RefusedError, ToolError, UnreachableError, UsageError } from '../../errors.ts';
import { LIMITS } from './limits.ts';

export function answerJson(response: Http.ServerResponse, value: unknown, status = 200): void {
  const text = `${JSON.stringify(value)}\n`;
  cutOffWhenNotRead(response);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** @returns false for what is no expected failure; nothing was sent then */
export function answerError(response: Http.ServerResponse, error: unknown): boolean {
  if (!(error instanceof ToolError)) return false;
  const { code, message, hint, exitCode, operands } = error;
  if (response.headersSent) response.destroy();
  else answerJson(response, { error: { code, message, hint, exitCode, ...operands } }, statusOf(error));
  return true;
}

/** Sends pieces as fast as they are taken, with turns for other work in between. */
export async function answerPieces(
  response: Http.ServerResponse,
  contentType: string,
  pieces: Iterable<string>,
): Promise<void> {
  cutOffWhenNotRead(response);
  response.writeHead(200, { 'content-type': contentType });
  let text = '';
  let count = 0;
  for (const piece of pieces) {
    text += piece;
    if (++count % LIMITS.turnEntries !== 0) continue;
    if (response.destroyed) return;
    const hasRoom = response.write(text);
    text = '';
    await (hasRoom ? setImmediate() : drained(response));
  }
  response.end(text);
}

/** Without a listener, Node destroys a connection on which nothing has moved for so long, at the latest after twice that. */
function cutOffWhenNotRead(response: Http.ServerResponse): void {
  response.setTimeout(LIMITS.patienceMs);
}

/** The body as text; a client that is slow with it is cut off. @throws {UsageError} BODY_TOO_LARGE */
export async function readBody(request: Http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), LIMITS.patienceMs);
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > LIMITS.bodyBytes) {
        throw new UsageError(`Cannot read a request of more than ${LIMITS.bodyBytes} bytes`, {
          code: 'BODY_TOO_LARGE',
        });
      }
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString();
}

function statusOf(error: ToolError): number {
  if (error.code === 'BODY_TOO_LARGE') return 413;
  if (error instanceof UsageError || error instanceof MalformedError) return 400;
  if (error instanceof RefusedError) return 409;
  return error instanceof UnreachableError ? 503 : 500;
}

function drained(response: Http.ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}
