/**
 * A hit's line that repeats nothing: how many whole lines back its answer stands, and how many its client, both in the same batch of
 * lines; what it has of its own follows. docs/decisions/0270
 * Brings 2 to 10 % of a hit and 22 bytes in place of 270 (`npm run bench -- hits`). docs/decisions/0527
 */
import { MINUTE_MS } from './counters.ts';
import type { HitRecord } from './hit-record.ts';
import { MAX_FIELD_BYTES } from './line.ts';
import { writeCount } from './write-count.ts';

/** No line begins with it that is whole. */
export const SHORT_LINE = 0x3d; // =
/** Farthest line that a line refers to; readers keep this many. */
export const MAX_LINES_BACK = 4_096;

/** A batch as far as its lines depend on those before. */
export interface LinesSoFar {
  /** No other of its spool has it; from 1. */
  readonly number: number;
  readonly buffer: Buffer;
  readonly view: DataView;
  /** Minute of all its lines, since 1970. */
  readonly minute: number;
  /** Lines that are not short. */
  wholeLines: number;
}

/** Sees which hits may have a short line. */
export class Repetitions {
  /** View of the bytes that were last compared: with HTTP/1.1 all come in one buffer. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  #buffer = this.#view.buffer;

  isRepeated(batch: LinesSoFar, hit: HitRecord): boolean {
    const { answered, client } = hit;
    if (answered.batch !== batch.number || client.batch !== batch.number) return false;
    const oldest = batch.wholeLines - MAX_LINES_BACK;
    if (answered.line <= oldest || client.line <= oldest || msIn(batch, hit) < answered.ms) return false;
    return !hit.hasEscapes && this.#hasSameFields(batch.view, hit);
  }

  #hasSameFields(written: DataView, hit: HitRecord): boolean {
    const { client, fields, refererStart, userAgentStart } = hit;
    const { refererBytes, userAgentBytes } = client;
    if (hit.refererEnd - refererStart !== refererBytes) return false;
    if (hit.userAgentEnd - userAgentStart !== userAgentBytes) return false;
    if (fields.buffer !== this.#buffer) {
      this.#buffer = fields.buffer;
      this.#view = new DataView(this.#buffer);
    }
    const view = this.#view;
    const { byteOffset } = fields;
    return (
      areSame(written, client.refererAt, view, byteOffset + refererStart, refererBytes) &&
      areSame(written, client.userAgentAt, view, byteOffset + userAgentStart, userAgentBytes)
    );
  }
}

/** Gives its end, without the line's. */
export function writeShortLine(batch: LinesSoFar, from: number, hit: HitRecord): number {
  const { buffer: to, wholeLines } = batch;
  to[from] = SHORT_LINE;
  let at = writeCount(to, from + 1, wholeLines - hit.answered.line);
  to[at++] = TAB;
  at = writeCount(to, at, wholeLines - hit.client.line);
  to[at++] = TAB;
  at = writeCount(to, at, msIn(batch, hit) - hit.answered.ms);
  to[at++] = TAB;
  at = writeCount(to, at, hit.durationMs);
  to[at++] = TAB;
  at = writeCount(to, at, hit.requestBytes);
  to[at++] = TAB;
  return writeCount(to, at, hit.responseBytes);
}

/** Notes that the hit's whole line is the batch's last and ends at `end`, so that the next one like it may be short. */
export function noteWholeLine(batch: LinesSoFar, end: number, hit: HitRecord): void {
  const { answered, client } = hit;
  answered.batch = batch.number;
  answered.line = batch.wholeLines;
  answered.ms = msIn(batch, hit);
  answered.cacheCode = hit.cacheCode;
  answered.status = hit.status;
  const refererBytes = hit.refererEnd - hit.refererStart;
  const userAgentBytes = hit.userAgentEnd - hit.userAgentStart;
  const isAsSent =
    !hit.hasEscapes && refererBytes <= MAX_FIELD_BYTES.referer && userAgentBytes <= MAX_FIELD_BYTES.userAgent;
  client.batch = isAsSent ? batch.number : 0;
  client.line = batch.wholeLines;
  client.refererBytes = refererBytes;
  client.userAgentBytes = userAgentBytes;
  // An absent field is one dash.
  client.userAgentAt = end - Math.max(1, userAgentBytes);
  client.refererAt = client.userAgentAt - 1 - Math.max(1, refererBytes);
  client.wholeBytes = OWN_BYTES + client.address.length + refererBytes + userAgentBytes;
}

/** What a short line's whole one has, with its end; a few more. */
export function wholeBytes({ answered, client }: HitRecord): number {
  return client.wholeBytes + answered.length;
}

/** The engine keeps it apart unless it is sure that it is a small whole number. */
function msIn(batch: LinesSoFar, hit: HitRecord): number {
  return (hit.endedAt - batch.minute * MINUTE_MS) | 0;
}

/** Eight at a time, in a third of the time: none is 0 or beyond ASCII, so that eight are a number that equals no other. */
function areSame(one: DataView, oneAt: number, other: DataView, otherAt: number, length: number): boolean {
  let i = 0;
  for (; i + 8 <= length; i += 8) {
    if (one.getFloat64(oneAt + i, true) !== other.getFloat64(otherAt + i, true)) return false;
  }
  for (; i < length; i++) if (one.getUint8(oneAt + i) !== other.getUint8(otherAt + i)) return false;
  return true;
}

const TAB = 0x09;
/** Time, numbers, TABs and the end. */
const OWN_BYTES = 80;
