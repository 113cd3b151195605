/** The socket of a service manager, sd_notify(3), that keeps what it is told. */
import { closeSync } from 'node:fs';
import { callLibc } from '../../src/lib/native/libc.ts';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;
const MESSAGE_BYTES = 4096;

export class NotifySocket implements Disposable {
  readonly path: string;
  readonly #fd: number;
  readonly #messages: string[] = [];

  constructor(path: string) {
    this.path = path;
    this.#fd = callLibc('socket', ['int', 'int', 'int'], AF_UNIX, SOCK_DGRAM, 0);
    const text = new TextEncoder().encode(`${path}\0`);
    const address = new Uint8Array(2 + text.length);
    address[0] = AF_UNIX;
    address.set(text, 2);
    const ret = callLibc('bind', ['int', 'void *', 'uint'], this.#fd, address, address.length);
    if (ret < 0) throw new Error(`bind: errno ${-ret}`);
  }

  /** Everything that was said until now, in its order. */
  messages(): readonly string[] {
    const buffer = new Uint8Array(MESSAGE_BYTES);
    for (;;) {
      const types = ['int', 'void *', 'size_t', 'int'];
      const bytes = callLibc('recv', types, this.#fd, buffer, buffer.length, MSG_DONTWAIT);
      if (bytes < 0) return this.#messages;
      this.#messages.push(new TextDecoder().decode(buffer.subarray(0, bytes)));
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}
