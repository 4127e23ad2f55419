/** A shortcut's answer as HTTP/1.1 has it on the wire. What time changes in its head is written over, while nobody is being sent the bytes. */
import { formatHead } from '#http/head-text.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { AnsweredPart } from '#logs/hit-record.ts';
import { formatPrepared, type ReadyAnswer } from './ready-answer.ts';

/** Smaller bodies are one piece with their head. */
const MAX_JOINED_BYTES = 16 * 1024;

export class WrittenHttp1 {
  /** The head, and behind it a small body. */
  readonly bytes: Buffer;
  readonly hasBody: boolean;
  readonly headBytes: number;
  readonly logged: AnsweredPart;
  /** Writes of it that are not out. */
  waiting = 0;
  readonly #answer: ReadyAnswer;
  readonly #framing: string;
  /** What time changes: where it stands, and how long it is. -1: in no one place. */
  readonly #valueAt: number;
  readonly #valueLength: number;
  #from: number;
  #to: number;

  /** `framing`: what the head says of the connection. */
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

  /** The answer as of `now`: this object, or a new one. */
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

/** Offset of the value of the only field with that name; -1: there is none, or more than one. */
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
