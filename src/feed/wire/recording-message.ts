/**
 * Messages of a live process to control about a recording: a piece, or its end. A line of JSON, then the bytes. Pure.
 */
import { LATEST_MS } from '#lib/instant.ts';
import { isCount } from '#lib/is-count.ts';
import { parseObject } from '#lib/parse-object.ts';
import type { BroadcastName } from '#model/live-stream.ts';
import { isAppName, isBroadcastId, isStreamName } from '#sites/live.ts';

export const RECORDING_ENDS = ['ended', 'off', 'changed', 'long', 'full', 'slow', 'crashed'] as const;

/**
 * `ended`: with its broadcast. `off`: recording was switched off. `changed`, `long`: the formats changed or it became
 * too long, and another recording continues it. `full`, `slow`: the spool or disk was full, or too slow. `crashed`: the
 * live process was killed.
 */
export type RecordingEnd = (typeof RECORDING_ENDS)[number];

export interface RecordingMessage extends BroadcastName {
  readonly edge: string;
  /** Id of the recording, `[a-z0-9]{1,32}`. */
  readonly recording: string;
  /** Start of the recording, epoch milliseconds. */
  readonly beganAt: number;
  /** Number of the piece, counted from 0. */
  readonly n: number;
  /** When the piece ends, epoch milliseconds. */
  readonly endsAt: number;
  readonly durationMs: number;
  readonly isDiscontinuity: boolean;
  /** Absent if more follows. */
  readonly end?: RecordingEnd;
  /** Size of the init segment at the beginning of `bytes`. */
  readonly initBytes: number;
  /** Empty if the message only reports the end. */
  readonly bytes: Buffer;
}

/** Limit of a message; `live/recording/cut.ts` ends pieces long before. */
export const MAX_RECORDING_BYTES = 96 * 1024 * 1024;

export function formatRecordingMessage({ bytes, ...head }: RecordingMessage): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]);
}

/** Returns `undefined` if it is not such a message. */
export function parseRecordingMessage(body: Buffer): RecordingMessage | undefined {
  const lineEnd = body.indexOf('\n');
  const head = lineEnd === -1 ? undefined : parseObject(body.toString('utf8', 0, lineEnd));
  if (head === undefined) return undefined;
  const { edge, recording, domainId, app, stream, broadcast, isDiscontinuity, end } = head;
  const { beganAt, n, endsAt, durationMs, initBytes } = head;
  if (typeof edge !== 'string' || !/^[\w.-]{1,64}$/.test(edge)) return undefined;
  if (typeof recording !== 'string' || !isBroadcastId(recording)) return undefined;
  if (typeof broadcast !== 'string' || !isBroadcastId(broadcast)) return undefined;
  if (typeof app !== 'string' || !isAppName(app) || typeof stream !== 'string' || !isStreamName(stream))
    return undefined;
  if (typeof isDiscontinuity !== 'boolean') return undefined;
  const known = RECORDING_ENDS.find((reason) => reason === end);
  if (end !== undefined && known === undefined) return undefined;
  const bytes = body.subarray(lineEnd + 1);
  const given = { domainId, beganAt, n, endsAt, durationMs, initBytes };
  if (!COUNTS.every((name) => isCount(given[name], LIMITS[name]))) return undefined;
  const counts = given as Record<Counts, number>; // `as`: checked above
  const hasMedia = counts.initBytes > 0 && counts.initBytes < bytes.length;
  if (!hasMedia && (bytes.length > 0 || known === undefined)) return undefined;
  return {
    ...{ edge, recording, app, stream, broadcast, isDiscontinuity, ...counts, bytes },
    ...(known !== undefined && { end: known }),
  };
}

type Counts = 'domainId' | 'beganAt' | 'n' | 'endsAt' | 'durationMs' | 'initBytes';

/** Largest values, which columns, file names and lines of a playlist can hold. */
const LIMITS: Readonly<Record<Counts, number>> = {
  domainId: 2 ** 31 - 1,
  beganAt: LATEST_MS,
  n: 999_999_999,
  endsAt: LATEST_MS,
  durationMs: 3_600_000,
  initBytes: MAX_RECORDING_BYTES,
};
const COUNTS = ['domainId', 'beganAt', 'n', 'endsAt', 'durationMs', 'initBytes'] as const;
