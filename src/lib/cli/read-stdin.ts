import { UsageError } from '../errors.ts';

/**
 * Reads all of standard input as text.
 * @param what for the message: what the command wants to read
 * @throws {UsageError} NOTHING_TO_READ when it is a terminal, where waiting would look like hanging
 */
export async function readStdin(stdin: NodeJS.ReadableStream, what: string): Promise<string> {
  return Buffer.from(await readStdinBytes(stdin, what)).toString();
}

/** As `readStdin`, for what is not text. */
export async function readStdinBytes(stdin: NodeJS.ReadableStream, what: string): Promise<Uint8Array> {
  if ((stdin as Partial<NodeJS.ReadStream>).isTTY === true) {
    throw new UsageError(`Cannot read ${what}: standard input is a terminal`, {
      code: 'NOTHING_TO_READ',
      hint: `give ${what} as arguments, or pipe it in`,
    });
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}
