/** Live streams as people read them on the command line, with a note where what is known of them is old. */
import type { DataOf } from '#contract/operations.ts';
import type { TimeTexts } from '../command/times.ts';

export type StreamRow = DataOf<'liveOperator.list'>['list'][number];

export const STREAM_HEADING = [
  ...['STREAM', 'DOMAIN', 'ACCOUNT', 'STATUS', 'UNTIL', 'BEGAN'],
  ...['VIEWERS', 'KBIT/S', 'SILENT', 'EDGE'],
];

export function streamCells(row: StreamRow, { ofSeconds }: TimeTexts): string[] {
  const { details } = row;
  const until = row.resume_at === 0 ? 'resumed' : ofSeconds(row.resume_at);
  return [
    ...[`${row.app_name}/${row.stream_name}`, row.domain, row.account_id],
    ...[row.status, row.status === 'PAUSED' ? until : '-', ofSeconds(row.timestamp)],
    details === null ? '-' : String(countViewers(details)),
    details === null || details.bit_rate === 0 ? '-' : String(Math.round(details.bit_rate / 1000)),
    details === null ? '-' : `${(details.silent_ms / 1000).toFixed(1)} s`,
    row.edge || '-',
  ];
}

function countViewers({ viewers: { flv, websocket, rtmp, hls } }: NonNullable<StreamRow['details']>): number {
  return flv + websocket + rtmp + hls;
}

/** Pairs of one stream; those without a value are empty. */
export function describeStream(row: StreamRow, { ofSeconds }: TimeTexts): [string, string][] {
  const { details } = row;
  return [
    ['stream', `${row.app_name}/${row.stream_name}`],
    ['domain', `${row.domain} (${row.domain_id})`],
    ['status', row.status],
    ['began', ofSeconds(row.timestamp)],
    ['ended', ofSeconds(row.endtime)],
    ['resumes', row.resume_at === 0 ? '' : ofSeconds(row.resume_at)],
    ['broadcast', row.broadcast],
    ['edge', row.edge],
    ...(details === null ? [] : describeDetails(details)),
  ];
}

function describeDetails(details: NonNullable<StreamRow['details']>): [string, string][] {
  const { flv, websocket, rtmp, hls } = details.viewers;
  const size = details.width === 0 ? '' : ` ${details.width}x${details.height}`;
  const rate = details.frame_rate === 0 ? '' : ` ${details.frame_rate}/s`;
  return [
    ['source', `${details.source} ${details.address}`],
    ['encoder', details.encoder],
    ['video', details.video_codec && details.video_codec + size + rate],
    ['audio', details.audio_codec],
    ['key frame interval', details.key_frame_ms === 0 ? '' : `${details.key_frame_ms} ms`],
    ['bit rate', details.bit_rate === 0 ? '' : `${details.bit_rate} bit/s`],
    ['viewers', `flv ${flv}, websocket ${websocket}, rtmp ${rtmp}, hls ${hls}`],
    ['silent for', `${details.silent_ms} ms${details.in_grace === '1' ? ', publisher disconnected' : ''}`],
    ['repaired', `${details.repaired_timestamps} timestamps`],
    ['reported', `${(details.report_age_ms / 1000).toFixed(1)} s ago`],
  ];
}

/** Live processes report every 5 s: one that has missed three reports does not run, or cannot reach control. */
const STALE_MS = 15_000;

/** One note for each edge that no longer reports what it had on air. */
export function staleNotes(rows: readonly StreamRow[]): string[] {
  const stale = new Map(rows.filter(isStale).map((row) => [row.edge, row]));
  return [...stale.values()].map((row) => `note: ${describeSilence(row)}. Its streams are shown as of that report.`);
}

export function isStale({ details }: StreamRow): boolean {
  return details !== null && details.report_age_ms > STALE_MS;
}

/** Words for how long ago the edge of the stream has reported. */
export function describeSilence({ edge, details }: StreamRow): string {
  return `the live process of edge ${edge} last reported ${describeAge(details?.report_age_ms ?? 0)} ago`;
}

function describeAge(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
