/**
 * A shortcut's answer as HTTP/1.1 bytes. The field that changes with time is overwritten in place while no write of the
 * bytes is in flight.
 */
import { formatHead } from '#http/head-text.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { AnsweredPart } from '#logs/hit-record.ts';
import { formatPrepared, type ReadyAnswer } from './ready-answer.ts';

/** Limit of a body that is joined to its head. */
const MAX_JOINED_BYTES = 16 * 1024;

export class WrittenHttp1 {
  /** The head, followed by the body if `hasBody`. */
  readonly bytes: Buffer;
  readonly hasBody: boolean;
  readonly headBytes: number;
  readonly logged: AnsweredPart;
  /** Writes of `bytes` that are in flight. */
  waiting = 0;
  readonly #answer: ReadyAnswer;
  readonly #framing: string;
  /**
   * Offset and length of the value that changes with time. The offset is -1 if the value does not occur exactly once.
   */
  readonly #valueAt: number;
  readonly #valueLength: number;
  #from: number;
  #to: number;

  /** `framing` holds the head's `Connection` lines. */
  constructor(answer: ReadyAnswer, framing: string, now: number) {
    const { name, value, changesAt } = answer.timed(now);
    const { status, reason, kept, bodyBytes } = answer;
    const headers = answer.headersWith(name, value);
    const head = Buffer.from(formatHead(status, reason, headers, framing), 'latin1');
    this.#answer = answer;
    this.#framing = framing;
    this.hasBody = kept !== undefined && bodyBytes <= MAX_JOINED_BYTES;
    this.bytes = ownBytes(this.hasBody ? [head, ...(kept?.pieces ?? [])] : [head]);
    this.headBytes = head.length;
    this.logged = formatPrepared(answer, '1.1');
    this.#valueAt = placeOf(head, name, value);
    this.#valueLength = value.length;
    this.#from = now;
    this.#to = changesAt;
  }

  /** Returns the answer as of `now`: this object, or a new one. */
  at(now: number): WrittenHttp1 {
    if (now >= this.#from && now < this.#to) return this;
    const { value, changesAt } = this.#answer.timed(now);
    if (this.waiting > 0 || this.#valueAt === -1 || value.length !== this.#valueLength)
      return new WrittenHttp1(this.#answer, this.#framing, now);
    this.bytes.write(value, this.#valueAt, 'latin1');
    this.#from = now;
    this.#to = changesAt;
    return this;
  }
}

/** Returns the offset of the value of the only field with that name; -1 if there is none or more than one. */
function placeOf(head: Buffer, name: string, value: string): number {
  const text = head.toString('latin1').toLowerCase();
  const line = `\r\n${name}: `;
  const at = text.indexOf(line);
  if (
    at === -1 ||
    text.indexOf(line, at + 1) !== -1 ||
    !text.startsWith(`${value.toLowerCase()}\r\n`, at + line.length)
  )
    return -1;
  return at + line.length;
}
