/** `POST /ipc/v1/gc`: `ipc gc` on the map of this loop, which only the loop itself may write. */
import type * as Http from 'node:http';
import { UsageError } from '../../errors.ts';
import { parseDeleteLimit } from '../../gc/delete-limit.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import type { Collected, Collector, CollectorOptions } from '../collector.ts';
import { answerJson, answerPieces } from './answer.ts';

type Query = Readonly<Record<string, string | undefined>>;

const KNOWN: ReadonlySet<string> = new Set(['dryRun', 'maxDelete', 'confirmMs', 'rate', 'tunnel', 'items']);

/**
 * With `items=true` NDJSON: a line for each entry that is stale or kept by a rule, and a last one with the numbers. A
 * client that goes away ends the collection.
 * @throws {UsageError} BAD_QUERY, BAD_LIMIT @throws what the collection throws
 */
export async function answerCollection(
  response: Http.ServerResponse,
  query: Query,
  collector: Collector,
): Promise<void> {
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  const options = { ...optionsOf(query), signal: ended.signal };
  if (query.items !== 'true') {
    answerJson(response, (await collector.collect(options)).run);
    return;
  }
  const collected = await collector.collect(options);
  if (response.destroyed) return;
  await answerPieces(response, 'application/x-ndjson', collectedLines(collected));
}

function optionsOf(query: Query): CollectorOptions {
  for (const name of Object.keys(query)) if (!KNOWN.has(name)) throw bad(`there is no parameter ${name}`);
  const { dryRun, maxDelete, confirmMs, rate, tunnel } = query;
  return {
    dryRun: dryRun === 'true',
    ...(maxDelete !== undefined && { limit: parseDeleteLimit(maxDelete) }),
    ...(confirmMs !== undefined && { confirmMs: wholeNumber('confirmMs', confirmMs) }),
    ...(rate !== undefined && { rate: Math.max(1, wholeNumber('rate', rate)) }),
    ...(tunnel !== undefined && { tunnels: tunnel.split(',').map(addressOf) }),
  };
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw bad(`${name} is not a whole number`);
}

function addressOf(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) throw bad(`${JSON.stringify(text)} is no address`);
  return formatAddress(address);
}

function bad(state: string): UsageError {
  return new UsageError(`Cannot read the request for a collection: ${state}`, { code: 'BAD_QUERY' });
}

function* collectedLines({ run, garbage: { rows, stale, kept } }: Collected): Generator<string> {
  for (const { row, outcome } of stale) {
    yield line({ prefix: rows.prefixText(row), identity: rows.identity(row), outcome });
  }
  for (const { row, why } of kept)
    yield line({ prefix: rows.prefixText(row), identity: rows.identity(row), kept: why });
  yield line({ end: true, ...run });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
