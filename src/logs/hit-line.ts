/** Writes the line of a request with a ready answer as bytes: equal to that of `formatLine`, but without strings. */
import type { LocalTime } from '#lib/local-time.ts';
import type { HitRecord } from './hit-record.ts';
import { escapeField, MAX_FIELD_BYTES } from './line.ts';
import { writeCount } from './write-count.ts';

export class HitLines {
  readonly #zone: LocalTime;
  /** Instant of the last line, which many lines share. */
  #at = Number.NaN;
  #time: Uint8Array = Buffer.alloc(0);

  constructor(zone: LocalTime) {
    this.#zone = zone;
  }

  /**
   * Writes the domain's id, a TAB and the line without its end. Returns its end offset. `to` must have room for the
   * longest line.
   */
  write(to: Buffer, from: number, hit: HitRecord): number {
    const { fields } = hit;
    const { address } = hit.client;
    const answered = hit.answered.bytes;
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

  /** Returns the time's bytes, with TABs around them. */
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

/**
 * Writes a value that needs no escape, like `escapeField`. The engine's copy takes a tenth of the time of a loop.
 */
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
