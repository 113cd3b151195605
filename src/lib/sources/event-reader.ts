/** Cuts bytes into lines of events. A bad line is named and counted, and does not stop the rest. */
import { MalformedError } from '../errors.ts';
import { EventFault } from './event-fault.ts';
import { type LineEvent, parseEventLine } from './event-line.ts';
import { PlainEvents } from './plain-event.ts';
import type { PlainUpsert } from './plain-upsert.ts';

/** Longer lines are refused, so that one without an end cannot take all memory. */
export const LONGEST_LINE_BYTES = 1 << 20;

const NEWLINE = 10;

export interface EventReaderSetup {
  /** Names the input in messages. */
  readonly name: string;
  /** The Cilium source of events that name none. */
  readonly source: string;
  readonly onEvent: (event: LineEvent) => void;
  /** Gets most upserts instead, in an object that is only valid during the call. Absent: they come as events too. */
  readonly onUpsert?: ((upsert: PlainUpsert) => void) | undefined;
  /** May throw, to stop at the first bad line. */
  readonly onBadLine: (error: MalformedError) => void;
}

export class EventReader {
  readonly #setup: EventReaderSetup;
  readonly #plain: PlainEvents;
  /** The beginning of a line whose end has not come yet. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  #isSkipping = false;
  #line = 0;

  constructor(setup: EventReaderSetup) {
    this.#setup = setup;
    this.#plain = new PlainEvents(setup.source);
  }

  /** How many lines have been read, empty ones included. */
  get lines(): number {
    return this.#line;
  }

  /** Whether a line has begun and not ended. */
  get isMidLine(): boolean {
    return this.#restBytes > 0 || this.#isSkipping;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    while (from < bytes.length) {
      const read = this.isMidLine ? -1 : this.#plain.readUpsert(bytes, view, from);
      const to = read < 0 ? bytes.indexOf(NEWLINE, from) : read;
      if (to < 0) break;
      if (read >= 0 && to - from <= LONGEST_LINE_BYTES) this.#takeUpsert();
      else if (this.isMidLine) this.#endLine(bytes.subarray(from, to));
      else this.#take(bytes, from, to);
      from = to + 1;
    }
    if (from < bytes.length) this.#keep(bytes.subarray(from));
  }

  /** The input has ended: a last line without a newline counts. */
  end(): void {
    if (this.isMidLine) this.#endLine(Buffer.alloc(0));
  }

  #keep(part: Buffer): void {
    this.#restBytes += part.length;
    if (this.#restBytes > LONGEST_LINE_BYTES) {
      this.#isSkipping = true;
      this.#rest = [];
    } else if (!this.#isSkipping) this.#rest.push(Buffer.from(part));
  }

  #endLine(part: Buffer): void {
    this.#keep(part);
    const line = Buffer.concat(this.#rest);
    const isTooLong = this.#isSkipping;
    this.#rest = [];
    this.#restBytes = 0;
    this.#isSkipping = false;
    if (isTooLong) this.#refuse(++this.#line, new EventFault('', `is longer than ${LONGEST_LINE_BYTES} bytes`));
    else this.#take(line, 0, line.length);
  }

  #takeUpsert(): void {
    this.#line++;
    const { onUpsert, onEvent } = this.#setup;
    if (onUpsert === undefined) onEvent(this.#plain.upsert.event());
    else onUpsert(this.#plain.upsert);
  }

  #take(bytes: Buffer, from: number, to: number): void {
    const line = ++this.#line;
    if (to - from > LONGEST_LINE_BYTES) {
      this.#refuse(line, new EventFault('', `is longer than ${LONGEST_LINE_BYTES} bytes`));
      return;
    }
    let event: LineEvent | undefined;
    try {
      event = this.#plain.read(bytes, from, to) ?? parseEventLine(bytes.toString('utf8', from, to), this.#setup.source);
    } catch (error) {
      if (!(error instanceof EventFault)) throw error;
      this.#refuse(line, error);
      return;
    }
    if (event !== undefined) this.#setup.onEvent(event);
  }

  #refuse(line: number, fault: EventFault): void {
    const { name } = this.#setup;
    this.#setup.onBadLine(
      new MalformedError(
        `Cannot use line ${line} of ${name}: ${fault.field === '' ? 'it' : fault.field} ${fault.message}`,
        {
          code: 'BAD_EVENT',
          operands: { file: name, line, ...(fault.field === '' ? {} : { field: fault.field }) },
        },
      ),
    );
  }
}
