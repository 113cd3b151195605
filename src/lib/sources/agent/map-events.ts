/** The agent's own memory of what it did to the map: a bounded buffer of events with times, on by default. */
import type { AgentClient, AgentRequest } from './agent-client.ts';
import { agentMapNames } from './map-name.ts';
import { type AgentMapValue, parseMapKey, parseMapValue } from './map-value.ts';
import { visitObjects } from './visit-objects.ts';

export interface AgentMapEvent {
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  readonly action: 'update' | 'delete' | 'delete-all';
  /** What was written; absent for a delete. */
  readonly value?: AgentMapValue;
  /** Why it did not reach the kernel. */
  readonly error?: string;
}

/**
 * The events of one prefix, the oldest first; a `delete-all` concerns every prefix.
 * @param most only so many of the newest are kept
 * @returns undefined when the agent keeps no events of the map
 * @throws as {@link visitObjects}
 */
export async function readMapEvents(
  client: AgentClient,
  { prefix, pin, most }: { readonly prefix: string; readonly pin?: string | undefined; readonly most: number },
  request: AgentRequest,
): Promise<AgentMapEvent[] | undefined> {
  const events: AgentMapEvent[] = [];
  const visit = (object: Readonly<Record<string, unknown>>): void => {
    const event = eventOf(object);
    if (event === undefined || (event.action !== 'delete-all' && parseMapKey(object.key) !== prefix)) return;
    events.push(event);
    if (events.length > most) events.shift();
  };
  for (const name of agentMapNames(pin)) {
    const answer = await visitObjects(client, { path: `/map/${name}/events`, depth: 1, visit }, request);
    if (answer !== 'absent') return events;
  }
  return undefined;
}

function eventOf({ timestamp, action, value, ...rest }: Readonly<Record<string, unknown>>): AgentMapEvent | undefined {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(time) || (action !== 'update' && action !== 'delete' && action !== 'delete-all')) return undefined;
  const parsed = parseMapValue(value);
  const error = rest['last-error'];
  return {
    time: new Date(time).toISOString(),
    action,
    ...(parsed && { value: parsed }),
    ...(typeof error === 'string' && error !== '' && error !== '<nil>' && { error }),
  };
}
