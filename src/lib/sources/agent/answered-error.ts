/** The error that `ipc listen` answers on its control socket, as the error that it was there. */
import {
  EXIT,
  FailedError,
  IncompleteError,
  MalformedError,
  NotPermittedError,
  RefusedError,
  type ToolError,
  type ToolErrorOptions,
  UnreachableError,
  UsageError,
} from '../../errors.ts';

const MAX_BYTES = 1 << 20;

const KINDS = new Map<unknown, new (message: string, options: ToolErrorOptions) => ToolError>([
  [EXIT.usage, UsageError],
  [EXIT.notPermitted, NotPermittedError],
  [EXIT.incomplete, IncompleteError],
  [EXIT.unreachable, UnreachableError],
  [EXIT.malformed, MalformedError],
  [EXIT.refused, RefusedError],
]);

/** @returns undefined for what is no such answer, as an agent's never is */
export async function answeredError(body: AsyncIterable<Uint8Array>): Promise<ToolError | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  const { code, message, hint, exitCode, ...operands } = fieldsOf(Buffer.concat(chunks).toString());
  if (typeof code !== 'string' || typeof message !== 'string' || typeof exitCode !== 'number') return undefined;
  const Kind = KINDS.get(exitCode) ?? FailedError;
  return new Kind(message, {
    code,
    ...(typeof hint === 'string' && { hint }),
    operands: operands as NonNullable<ToolErrorOptions['operands']>,
  });
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
