/** Writes `local_allocator_state.json` as the agent does, byte for byte but in a fixed order (the agent's is random). */
import { openAtomicFile } from '../fs/atomic-file.ts';
import type { IdentityRecord } from './caching-allocator.ts';
import type { Label } from './label.ts';
import type { Labels } from './labels.ts';
import { bytesFromText } from './utf8-text.ts';

/** Records in one chunk: small enough that formatting one never holds up a running loop. */
const CHUNK_RECORDS = 512;

/** The file in pieces: identities by number, labels by bytes of their keys, one line. Labels of one number stay apart. */
export function* checkpointChunks(identities: Iterable<IdentityRecord>): Generator<Buffer> {
  const sorted = [...identities].sort((a, b) => a.id - b.id);
  for (let from = 0; from < sorted.length; from += CHUNK_RECORDS) {
    const texts = sorted.slice(from, from + CHUNK_RECORDS).map(formatRecord);
    yield bytesFromText(`${from === 0 ? '[' : ','}${texts.join(',')}`);
  }
  yield Buffer.from(sorted.length === 0 ? '[]\n' : ']\n');
}

/**
 * Replaces the file atomically and durably. A new file gets mode 0600, an existing one keeps its own.
 * @throws {ToolError} as `openAtomicFile` does; the old file is untouched then
 */
export async function writeCheckpoint(path: string, identities: Iterable<IdentityRecord>): Promise<void> {
  using file = openAtomicFile(path, { mode: 0o600 });
  for (const chunk of checkpointChunks(identities)) await file.write(chunk);
  await file.commit();
}

function formatRecord({ id, labels }: IdentityRecord): string {
  return `{"id":${id},"labels":${formatLabelMap(labels)}}`;
}

function formatLabelMap(labels: Labels): string {
  return `{${labels
    .entries()
    .map(({ mapKey, label }) => `${quote(mapKey)}:${formatLabelObject(label)}`)
    .join(',')}}`;
}

function formatLabelObject({ key, value, source }: Label): string {
  return `{"key":${quote(key)}${value === '' ? '' : `,"value":${quote(value)}`},"source":${quote(source)}}`;
}

const SHORT: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Only quotes, backslashes and control characters are escaped; everything else goes as it is, also what is no UTF-8. */
function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
  return `"${text.replace(/["\\\u0000-\u001f]/g, escapeChar)}"`;
}

function escapeChar(char: string): string {
  return SHORT[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
