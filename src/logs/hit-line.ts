/** The line of a request whose answer was made before, put together as bytes: the same as `formatLine` makes, without a string. */
import type { LocalTime } from '#lib/local-time.ts';
import type { CountedRequest } from './counters.ts';
import { escapeField, MAX_FIELD_BYTES } from './line.ts';

/** May be used for the next one as soon as it is taken. */
export interface HitRecord extends CountedRequest {
  readonly domainId: number;
  /** `formatAddress`. */
  readonly address: Uint8Array;
  readonly endedAt: number;
  readonly durationMs: number;
  /** `formatAnswered`. */
  readonly answered: Uint8Array;
  /** As they came off the wire; start and end are the same where there is none. */
  readonly fields: Buffer;
  readonly refererStart: number;
  readonly refererEnd: number;
  readonly userAgentStart: number;
  readonly userAgentEnd: number;
  /** Some byte of theirs may not stand in a line. */
  readonly hasEscapes: boolean;
}

export class HitLines {
  readonly #zone: LocalTime;
  /** Of the last line: many are of the same instant. */
  #at = Number.NaN;
  #time: Uint8Array = Buffer.alloc(0);

  constructor(zone: LocalTime) {
    this.#zone = zone;
  }

  /** The domain's id, a TAB and the line without its end, from `at` on; gives where it ends. There must be room for the longest. */
  write(to: Buffer, from: number, hit: HitRecord): number {
    const { address, answered, fields } = hit;
    let at = writeCount(to, from, hit.domainId);
    to[at++] = TAB;
    to.set(address, at);
    at += address.length;
    const time = this.#timeAt(hit.endedAt);
    to.set(time, at);
    at = writeCount(to, at + time.length, hit.durationMs);
    to[at++] = TAB;
    at = writeCount(to, at, hit.requestBytes);
    to[at++] = TAB;
    at = writeCount(to, at, hit.responseBytes);
    to[at++] = TAB;
    to.set(answered, at);
    at += answered.length;
    to[at++] = TAB;
    const writeField = hit.hasEscapes ? writeEscaped : writePlain;
    at = writeField(to, at, fields, hit.refererStart, hit.refererEnd, MAX_FIELD_BYTES.referer);
    to[at++] = TAB;
    return writeField(to, at, fields, hit.userAgentStart, hit.userAgentEnd, MAX_FIELD_BYTES.userAgent);
  }

  /** Between TABs. */
  #timeAt(at: number): Uint8Array {
    if (at !== this.#at) {
      this.#time = Buffer.from(`\t${this.#zone.format(at)}\t`);
      this.#at = at;
    }
    return this.#time;
  }
}

const TAB = 0x09;
const DASH = 0x2d;
const ZERO = 0x30;
/** Beyond it numbers are not the engine's small ones. */
const MAX_SMALL = 2 ** 30;

/** As `formatCount` does. */
function writeCount(to: Buffer, from: number, value: number): number {
  const count = Math.max(0, Math.floor(value));
  if (count > MAX_SMALL) return from + to.write(String(count), from);
  let end = from + 1;
  for (let rest = count; rest >= 10; rest = (rest / 10) | 0) end++;
  let rest = count | 0;
  for (let at = end - 1; at >= from; at--) {
    const tens = (rest / 10) | 0;
    to[at] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return end;
}

/** As `escapeField` does of what needs no escape: nearly every value. Copied by the engine, in a tenth of the time of a loop. */
function writePlain(to: Buffer, from: number, bytes: Buffer, start: number, end: number, maxBytes: number): number {
  if (start === end) {
    to[from] = DASH;
    return from + 1;
  }
  return from + bytes.copy(to, from, start, Math.min(end, start + maxBytes));
}

function writeEscaped(to: Buffer, from: number, bytes: Buffer, start: number, end: number, maxBytes: number): number {
  return from + to.write(escapeField(bytes.toString('latin1', start, end), maxBytes), from);
}
