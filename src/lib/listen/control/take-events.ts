/** Events in the body of a request, as many as come: taken as they are read, bad lines counted and named. */
import type * as Http from 'node:http';
import { EventReader } from '../../sources/event-reader.ts';
import type { SourceFeed } from '../source-feed.ts';

export interface TakenEvents {
  readonly events: number;
  readonly badLines: number;
  /** What was wrong with the first ones. */
  readonly errors: readonly string[];
}

const MOST_ERRORS = 10;

/** @param feed of events that come by way of the control socket */
export async function takeEvents(request: Http.IncomingMessage, feed: SourceFeed): Promise<TakenEvents> {
  const errors: string[] = [];
  let events = 0;
  let badLines = 0;
  const reader = new EventReader({
    name: 'the request',
    source: 'api',
    onEvent: (event) => {
      events++;
      if (event.op !== 'synced') feed.event(event);
    },
    onBadLine: (error) => {
      badLines++;
      if (errors.length < MOST_ERRORS) errors.push(error.message);
      feed.badLine(error);
    },
  });
  for await (const chunk of request as AsyncIterable<Buffer>) {
    reader.push(chunk);
    await feed.drained();
  }
  reader.end();
  return { events, badLines, errors };
}
