/**
 * Asks a cilium-agent over the unix socket of its REST API (api/v1/openapi.yaml of Cilium 1.18), or a running `ipc listen` over
 * its control socket.
 */
import type * as Http from 'node:http';
import type { IncomingMessage } from 'node:http';
import { MalformedError, NotPermittedError, type ToolError, UnreachableError } from '../../errors.ts';
import { answeredError } from './answered-error.ts';

export interface AgentRequest {
  /** GET unless it says otherwise. */
  readonly method?: 'POST' | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the whole answer, its body included; absent: as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** Called when an answer 200 begins. */
  readonly onAnswer?: (() => void) | undefined;
  /** An answer that is larger is not read to its end. */
  readonly maxBytes?: number;
}

/** 500 000 entries are 75 MB as the agent prints them. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024;

/** Who is asked, for paths and messages. */
export interface AgentKind {
  readonly name: string;
  /** In front of every path. */
  readonly base: string;
  /** Begins the codes of errors. */
  readonly code: string;
  /** What to do when nobody answers. */
  readonly hint: string;
}

const CILIUM_AGENT: AgentKind = {
  name: 'the agent',
  base: '/v1',
  code: 'AGENT',
  hint: 'is a cilium-agent running here? name its socket with agent:SOCKET or CILIUM_SOCK',
};

/** The agent loop of this program. */
export const IPC_LISTEN: AgentKind = {
  name: 'ipc listen',
  base: '/ipc/v1',
  code: 'LISTEN',
  hint: 'is it running here? name its control socket with listen:SOCKET',
};

export class AgentClient {
  readonly socket: string;
  readonly #kind: AgentKind;

  /** Nothing is opened yet. */
  constructor(socket: string, kind = CILIUM_AGENT) {
    this.socket = socket;
    this.#kind = kind;
  }

  /**
   * Reads the body of an answer 200, piece by piece.
   * @param path below the base of its kind, `/v1` for an agent
   * @returns whether there was one; false for 404, which the agent answers when it has nothing
   * @throws {UnreachableError} AGENT_UNREACHABLE no socket, nobody behind it, silence, broken off; AGENT_STATUS another answer
   * @throws {NotPermittedError}
   * @throws {MalformedError} AGENT_ANSWER the answer is too large. Whatever `take` throws, and the signal's reason
   */
  async read(path: string, request: AgentRequest, take: (chunk: Uint8Array) => void): Promise<boolean> {
    const { method = 'GET', signal, timeoutMs, maxBytes = MAX_ANSWER_BYTES, onAnswer } = request;
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const stop = AbortSignal.any([signal, timeout].filter((one) => one !== undefined));
    try {
      const response = await this.#ask(method, path, stop);
      if (response.statusCode === 404) {
        response.destroy();
        return false;
      }
      if (response.statusCode !== 200) throw (await answeredError(response)) ?? this.#status(response, path);
      onAnswer?.();
      let bytes = 0;
      for await (const chunk of response as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw this.malformed(path, `it is larger than ${maxBytes} bytes`);
        take(chunk);
      }
      if (!response.complete) throw this.#unreachable('it broke off its answer');
      return true;
    } catch (cause) {
      signal?.throwIfAborted();
      if (timeout?.aborted) throw this.#unreachable(`no answer within ${(timeoutMs ?? 0) / 1000} s`, cause);
      throw this.#translated(cause);
    }
  }

  /** An answer that is not what the agent's API promises. */
  malformed(path: string, state: string): MalformedError {
    return new MalformedError(`Cannot read the answer of ${this.#kind.name} at ${this.socket} to ${path}: ${state}`, {
      code: `${this.#kind.code}_ANSWER`,
      hint: `is it ${this.#kind.name} that listens there?`,
      operands: { path: this.socket },
    });
  }

  #ask(method: string, path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { request } = require('node:http') as typeof Http;
    return new Promise((resolve, reject) => {
      const sent = request(
        { socketPath: this.socket, method, path: `${this.#kind.base}${path}`, agent: false, signal },
        resolve,
      );
      sent.setHeader('Host', 'localhost');
      sent.on('error', reject);
      sent.end();
    });
  }

  #status(response: IncomingMessage, path: string): UnreachableError {
    const { statusCode } = response;
    response.destroy();
    return new UnreachableError(
      `Cannot ask ${this.#kind.name} at ${this.socket} for ${path}: it answered ${statusCode}`,
      {
        code: `${this.#kind.code}_STATUS`,
        hint: `look at the status and the log of ${this.#kind.name}`,
        operands: { path: this.socket, status: statusCode },
      },
    );
  }

  #unreachable(state: string, cause?: unknown): UnreachableError {
    return new UnreachableError(`Cannot ask ${this.#kind.name} at ${this.socket}: ${state}`, {
      code: `${this.#kind.code}_UNREACHABLE`,
      cause,
      hint: this.#kind.hint,
      operands: { path: this.socket },
    });
  }

  #translated(cause: unknown): unknown {
    const code = cause instanceof Error && 'code' in cause && 'syscall' in cause ? cause.code : undefined;
    const parser = cause instanceof Error && 'code' in cause && String(cause.code).startsWith('HPE_');
    if (parser) return this.#unreachable('what answers there does not speak HTTP', cause);
    switch (code) {
      case 'ENOENT':
        return this.#unreachable('no such socket', cause);
      case 'ECONNREFUSED':
      case 'ENOTSOCK':
        return this.#unreachable('nobody listens there', cause);
      case 'EACCES':
      case 'EPERM':
        return this.#denied(cause);
    }
    const broken = cause instanceof Error && 'code' in cause && ['ECONNRESET', 'EPIPE'].includes(String(cause.code));
    return broken ? this.#unreachable('it broke off its answer', cause) : cause;
  }

  #denied(cause: unknown): ToolError {
    return new NotPermittedError(`Cannot ask ${this.#kind.name} at ${this.socket}: permission denied`, {
      cause,
      hint: 'run as root or in the group of the socket',
      operands: { path: this.socket },
    });
  }
}
