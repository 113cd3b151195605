/** Asks a running `ipc listen` on its control socket. */
import type * as Http from 'node:http';
import { UnreachableError } from '../errors.ts';
import { errnoOf } from '../fs/file-error.ts';

/**
 * @param timeoutMs for the whole answer, however slowly it comes
 * @returns undefined when there is no socket, or nobody listens on it any more
 * @throws {UnreachableError} code CONTROL_SILENT: no answer in time, or none that can be read
 */
export function askControl(socketPath: string, path: string, timeoutMs: number): Promise<unknown> {
  const http = require('node:http') as typeof Http;
  return new Promise((resolve, reject) => {
    const fail = (state: string): void => {
      end();
      reject(
        new UnreachableError(`Cannot ask ipc listen on ${socketPath}: ${state}`, {
          code: 'CONTROL_SILENT',
          hint: 'look at its log; a loop that is held up answers nothing',
          operands: { path: socketPath },
        }),
      );
    };
    const request = http.get({ socketPath, path, headers: { host: 'localhost' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', () => fail('it broke off its answer'));
      response.on('end', () => {
        try {
          if (response.statusCode !== 200) return fail(`it answers ${response.statusCode}`);
          const answer: unknown = JSON.parse(text);
          end();
          resolve(answer);
        } catch {
          fail('its answer is not JSON');
        }
      });
    });
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs);
    const end = (): void => {
      clearTimeout(timer);
      request.destroy();
    };
    request.on('error', (cause) => {
      const errno = errnoOf(cause);
      if (errno !== 'ENOENT' && errno !== 'ECONNREFUSED') return fail(errno ?? cause.message);
      end();
      resolve(undefined);
    });
  });
}
