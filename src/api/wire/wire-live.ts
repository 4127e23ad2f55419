/** Live streams, their words on the wire. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { ReportedBroadcast, ViewerGrain } from '#db/tables/live/history.ts';
import type { StoredLiveKeys } from '#db/tables/live/keys.ts';
import type { StoredStream } from '#db/tables/live/streams.ts';
import { toModelNames } from '#lib/model-names.ts';
import { type ListedStream, listedStream, type ViewerCounts } from '#model/live-stream.ts';
import type { PushInfo } from './live-addresses.ts';
import { READ_RECORDINGS, WRITE_RECORDINGS } from './wire-recordings.ts';
import { readName } from './wire-traffic.ts';
import { readPage, writeFlag, writeSeconds } from './wire-values.ts';

export interface ViewersView {
  readonly now: ViewerCounts;
  readonly grain: ViewerGrain;
  readonly list: readonly (ViewerCounts & { readonly at: number })[];
}

interface BroadcastPage {
  readonly total: number;
  readonly broadcasts: readonly ReportedBroadcast[];
}

interface StreamPage {
  readonly total: number;
  readonly streams: readonly StoredStream[];
  readonly now: number;
}

interface PreviewUrl {
  readonly url: string;
  readonly expiresAt: number;
}

export const READ_LIVE = {
  ...READ_RECORDINGS,
  'live.streams': ({ domain }: RequestOf<'live.streams'>) => ({ name: readName(domain) }),
  'live.history': (request: RequestOf<'live.history'>) => ({
    name: readName(request.domain),
    ...readWhich(request),
    ...readPage(request),
  }),
  'live.viewers': (request: RequestOf<'live.viewers'>) => ({
    name: readName(request.domain),
    grain: request.interval ?? ('minute' as const),
    ...readWhich(request),
  }),
  'live.pushInfo': ({ domain, app_name, stream_name, host, expire }: RequestOf<'live.pushInfo'>) => ({
    name: readName(domain),
    app: app_name,
    stream: stream_name,
    host,
    expireSeconds: expire,
  }),
  'live.list': (request: RequestOf<'live.list'>) => ({
    name: request.domain === undefined ? undefined : readName(request.domain),
    ...readListed(request),
  }),
  'live.preview': ({ domain, app_name, stream_name }: RequestOf<'live.preview'>) => ({
    name: readName(domain),
    app: app_name,
    stream: stream_name,
  }),
  'liveOperator.list': (request: RequestOf<'liveOperator.list'>) => ({
    accountId: request.account_id,
    domainId: request.domain_id,
    ...readListed(request),
  }),
  'liveOperator.forbid': (request: RequestOf<'liveOperator.forbid'>) => ({
    ...readStream(request),
    resumeAt: request.resume_at === undefined ? undefined : request.resume_at * 1000,
  }),
  'liveOperator.resume': readStream,
  'liveOperator.kick': readStream,
  'liveOperator.history': (request: RequestOf<'liveOperator.history'>) => ({
    accountId: request.account_id,
    domainId: request.domain_id,
    ...readWhich(request),
    ...readPage(request),
  }),
  'liveOperator.getKeys': toModelNames<RequestOf<'liveOperator.getKeys'>>,
  'liveOperator.setKeys': toModelNames<RequestOf<'liveOperator.setKeys'>>,
};

export const WRITE_LIVE = {
  ...WRITE_RECORDINGS,
  'live.streams': (streams: readonly ListedStream[]): DataOf<'live.streams'> =>
    streams.map(({ app, stream, state, beganAt, endedAt }) => ({
      app_name: app,
      stream_name: stream,
      status: state,
      timestamp: writeSeconds(beganAt),
      endtime: writeSeconds(endedAt),
    })),
  'live.history': ({ total, broadcasts }: BroadcastPage): DataOf<'live.history'> => ({
    total,
    list: broadcasts.map((broadcast) => ({ ...writeName(broadcast), ...writeBroadcast(broadcast) })),
  }),
  'live.viewers': ({ now, grain, list }: ViewersView): DataOf<'live.viewers'> => ({
    now: writeViewers(now),
    interval: grain,
    list: list.map(({ at, ...viewers }) => ({ time: writeSeconds(at), ...writeViewers(viewers) })),
  }),
  'live.pushInfo': ({ publish, play, expiresAt }: PushInfo): DataOf<'live.pushInfo'> => ({
    publish: publish.map(({ protocol, url, server, streamKey }) => ({ protocol, url, server, stream_key: streamKey })),
    play: play.map(({ protocol, url }) => ({ protocol, url })),
    expire_time: writeSeconds(expiresAt),
  }),
  'live.list': ({ total, streams, now }: StreamPage): DataOf<'live.list'> => ({
    total,
    list: streams.map((stream) => writeStream(stream, now)),
  }),
  'live.preview': ({ url, expiresAt }: PreviewUrl): DataOf<'live.preview'> => ({
    url,
    expires_at: writeSeconds(expiresAt),
  }),
  'liveOperator.list': ({ total, streams, now }: StreamPage): DataOf<'liveOperator.list'> => ({
    total,
    list: streams.map((stream) => ({
      account_id: String(stream.accountId),
      ...writeStream(stream, now),
      broadcast: stream.broadcast,
      edge: stream.edge,
    })),
  }),
  'liveOperator.history': ({ total, broadcasts }: BroadcastPage): DataOf<'liveOperator.history'> => ({
    total,
    list: broadcasts.map((broadcast) => ({
      ...writeName(broadcast),
      broadcast: broadcast.broadcast,
      edge: broadcast.edge,
      address: broadcast.address,
      ...writeBroadcast(broadcast),
    })),
  }),
  'liveOperator.getKeys': writeKeys,
  'liveOperator.setKeys': writeKeys,
};

function readStream({ account_id, domain_id, app_name, stream_name }: RequestOf<'liveOperator.kick'>) {
  return { accountId: account_id, domainId: domain_id, app: app_name, stream: stream_name };
}

function readListed(request: RequestOf<'live.list'>) {
  const { app_name: app, stream_name: stream, status: state } = request;
  return { app, stream, state, ...readPage(request) };
}

function readWhich({
  app_name,
  stream_name,
  starttime,
  endtime,
}: Pick<RequestOf<'live.viewers'>, 'app_name' | 'stream_name' | 'starttime' | 'endtime'>) {
  return { app: app_name, stream: stream_name, from: starttime, to: endtime };
}

function writeName({ app, stream }: { readonly app: string; readonly stream: string }) {
  return { app_name: app, stream_name: stream };
}

function writeBroadcast({ beganAt, endedAt, source, endReason, peakViewers }: ReportedBroadcast) {
  return {
    timestamp: writeSeconds(beganAt),
    endtime: writeSeconds(endedAt),
    source: source === 'origin' ? ('origin' as const) : ('publish' as const),
    end_reason: endReason,
    peak_viewers: peakViewers,
  };
}

function writeStream(stored: StoredStream, now: number): DataOf<'live.list'>['list'][0] {
  const listed = listedStream(stored, now) ?? { ...stored, state: 'READY' as const };
  return {
    domain_id: String(stored.domainId),
    domain: stored.domainName,
    ...writeName(stored),
    status: listed.state,
    timestamp: writeSeconds(listed.beganAt),
    endtime: writeSeconds(listed.endedAt),
    resume_at: listed.state === 'PAUSED' ? writeSeconds(stored.forbiddenUntil) : 0,
    details: listed.state === 'ONGOING' ? writeDetails(stored, now) : null,
  };
}

function writeDetails({ status, reportedAt }: StoredStream, now: number) {
  if (status === undefined) return null;
  return {
    source: status.source,
    address: status.address,
    encoder: status.flashVer,
    video_codec: status.videoCodec,
    audio_codec: status.audioCodec,
    width: status.width,
    height: status.height,
    frame_rate: status.frameRate,
    key_frame_ms: status.keyFrameMs,
    bit_rate: status.bitsPerSecond,
    viewers: writeViewers(status.viewers),
    silent_ms: Math.max(0, reportedAt - status.lastMediaAt),
    in_grace: writeFlag(status.isInGrace),
    repaired_timestamps: status.repairedTimestamps,
    report_age_ms: Math.max(0, now - reportedAt),
  };
}

function writeViewers({ flv, websocket, rtmp, hls }: ViewerCounts) {
  return { flv, websocket, rtmp, hls };
}

function writeKeys({ publish, play }: StoredLiveKeys) {
  return { publish: [...publish], play: [...play] };
}
