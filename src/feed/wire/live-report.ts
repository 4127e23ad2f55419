/**
 * The reports of a live process to control: events in order, until control has acknowledged them, and every 5 s all
 * broadcasts on air. docs/decisions/0502
 */
import type { StoredReport } from '#db/tables/live/reports.ts';
import {
  type BroadcastName,
  END_REASONS,
  LIVE_SOURCES,
  type LiveEvent,
  type LiveStatus,
  type ViewerCounts,
} from '#model/live-stream.ts';
import { isAppName, isBroadcastId, isStreamName } from '#sites/live.ts';
import {
  MAX_INT,
  type Members,
  MessageError,
  parseJson,
  readAmount,
  readBoundedText,
  readCount,
  readEdge,
  readFlag,
  readInstant,
  readItems,
  readMembers,
  readWord,
} from './messages.ts';

/** Limit of a report: all events and all streams with their longest texts, escaped. */
export const MAX_LIVE_REPORT_BYTES = 16 * 1024 * 1024;
/** Limit of events in a report. */
export const MAX_LIVE_EVENTS = 500;
/** Limit of streams on air at one live process; a report has all of them. */
export const MAX_LIVE_STATUSES = 5000;
const MAX_ADDRESS_CHARS = 300;
const MAX_CODEC_CHARS = 32;
const MAX_FLASH_VER_CHARS = 200;
/** Viewers of one kind: columns hold the sum over all streams of a domain. */
const MAX_VIEWERS = 400_000;

export interface LiveReport extends StoredReport {
  /** The sender's clock, epoch milliseconds. */
  readonly at: number;
}

export interface LiveReportAnswer {
  /** Highest `n` that control has stored, of this or an earlier report; 0 if none. */
  readonly taken: number;
  /** Broadcasts of this report that another live process has on air: they are to end with the reason `replaced`. */
  readonly notOwned: readonly string[];
}

/** Throws `MessageError`. */
export function parseLiveReport(text: string): LiveReport {
  const members = readMembers('report', parseJson(text));
  const { streams } = members;
  const report = {
    edge: readEdge(members['edge']),
    epoch: readBoundedText('epoch', members['epoch'], 64),
    at: readInstant('at', members['at']),
    events: readItems('events', members['events'], MAX_LIVE_EVENTS).map(readEvent),
    ...(streams !== undefined && { streams: readItems('streams', streams, MAX_LIVE_STATUSES).map(readStatus) }),
  };
  if (report.events.some(({ n }, index) => n <= (report.events[index - 1]?.n ?? 0))) {
    throw new MessageError('n: expected ascending numbers from 1');
  }
  return report;
}

/** Throws `MessageError`. */
export function parseLiveAnswer(text: string): LiveReportAnswer {
  const members = readMembers('answer', parseJson(text));
  return {
    taken: readCount('taken', members['taken']),
    notOwned: readItems('notOwned', members['notOwned'], MAX_LIVE_EVENTS + MAX_LIVE_STATUSES).map((each) =>
      readBoundedText('notOwned', each, 32),
    ),
  };
}

function readEvent(value: unknown): LiveEvent {
  const members = readMembers('event', value);
  const event = { ...readBroadcast(members), n: readCount('n', members['n']), at: readInstant('at', members['at']) };
  const kind = readWord('kind', members['kind'], ['began', 'ended']);
  if (kind === 'ended') return { ...event, kind, reason: readWord('reason', members['reason'], END_REASONS) };
  const { source, address } = members;
  return {
    ...event,
    kind,
    source: readWord('source', source, LIVE_SOURCES),
    address: readAny('address', address, MAX_ADDRESS_CHARS),
  };
}

function readStatus(value: unknown): LiveStatus {
  const members = readMembers('stream', value);
  return {
    ...readBroadcast(members),
    startedAt: readInstant('startedAt', members['startedAt']),
    lastMediaAt: readInstant('lastMediaAt', members['lastMediaAt']),
    source: readWord('source', members['source'], LIVE_SOURCES),
    address: readAny('address', members['address'], MAX_ADDRESS_CHARS),
    isInGrace: readFlag('isInGrace', members['isInGrace']),
    videoCodec: readAny('videoCodec', members['videoCodec'], MAX_CODEC_CHARS),
    audioCodec: readAny('audioCodec', members['audioCodec'], MAX_CODEC_CHARS),
    width: readCount('width', members['width']),
    height: readCount('height', members['height']),
    frameRate: readAmount('frameRate', members['frameRate']),
    keyFrameMs: readCount('keyFrameMs', members['keyFrameMs']),
    bitsPerSecond: readCount('bitsPerSecond', members['bitsPerSecond']),
    repairedTimestamps: readCount('repairedTimestamps', members['repairedTimestamps']),
    viewers: readViewers(members['viewers']),
    flashVer: readAny('flashVer', members['flashVer'], MAX_FLASH_VER_CHARS),
  };
}

function readViewers(value: unknown): ViewerCounts {
  const members = readMembers('viewers', value);
  return {
    flv: readCount('flv', members['flv'], MAX_VIEWERS),
    websocket: readCount('websocket', members['websocket'], MAX_VIEWERS),
    rtmp: readCount('rtmp', members['rtmp'], MAX_VIEWERS),
    hls: readCount('hls', members['hls'], MAX_VIEWERS),
  };
}

function readBroadcast(members: Members): BroadcastName {
  const domainId = readCount('domainId', members['domainId']);
  const { app, stream, broadcast } = members;
  if (domainId < 1 || domainId > MAX_INT) throw new MessageError('domainId: expected the id of a domain');
  if (typeof app !== 'string' || !isAppName(app)) throw new MessageError('app: expected the name of an application');
  if (typeof stream !== 'string' || !isStreamName(stream)) throw new MessageError('stream: expected a name');
  if (typeof broadcast !== 'string' || !isBroadcastId(broadcast)) {
    throw new MessageError('broadcast: expected 1 to 32 lower-case letters and digits');
  }
  return { domainId, app, stream, broadcast };
}

/** Reads a text that may be empty. NULs and unpaired surrogates are removed, because databases cannot store them. */
function readAny(member: string, value: unknown, maxChars: number): string {
  if (typeof value !== 'string' || value.length > maxChars) {
    throw new MessageError(`${member}: expected a text of at most ${maxChars} characters`);
  }
  return value.toWellFormed().replaceAll('\0', '');
}
