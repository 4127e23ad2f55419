/**
 * HLS through the edge's own cache: the live process is the origin of its playlists and parts, and a viewer's key is no part of what
 * they are found by. docs/decisions/0496
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsCodings } from '#http/content-coding.ts';
import { formatDate } from '#http/dates.ts';
import { firstValue, joinedValue, type RawHeaders, withField, withoutFields } from '#http/headers.ts';
import type { CacheOptions } from '#http/options.ts';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeContext, Visit } from '../context.ts';
import { answerCacheable } from '../fetch/answer-cacheable.ts';
import { type EdgeRequest, withRequestHeaders } from '../request.ts';
import type { EdgeAnswer } from '../respond/answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { sendAnswer } from '../respond/send.ts';
import { leaveToStore } from '../respond/stream.ts';
import type { Viewer } from '../viewer.ts';
import { viewerHash } from './audience.ts';
import { CollectingViewer } from './collecting-viewer.ts';
import type { LiveEdge } from './live.ts';
import type { StreamName } from './live-path.ts';
import { pathOf } from './owner-client.ts';
import { withViewerQuery } from './playlist.ts';
import { streamKey } from './stream-table.ts';

export interface AskedFile {
  readonly request: EdgeRequest;
  readonly site: Site;
  readonly name: StreamName;
  readonly broadcast: string;
  readonly file: string;
  /** Directives of a playlist; empty without any. */
  readonly query: string;
}

/** `undefined`: the viewer has left. */
export async function answerHls(
  viewer: Viewer,
  edge: EdgeContext,
  live: LiveEdge,
  asked: AskedFile,
): Promise<EdgeAnswer | undefined> {
  const { request, name, file } = asked;
  live.audience.note(streamKey(name), viewerHash(request), edge.clock());
  const answer = await answerCacheable(viewer, { ...edge, store: live.files }, visitOf(live, asked));
  if (answer === undefined) return undefined;
  if (answer.status >= 400) {
    leaveToStore(answer.body, edge);
    return errorOf(answer, edge.clock());
  }
  if (!file.endsWith('.m3u8')) {
    const dated = withField(answer.headers, 'Date', formatDate(edge.clock()));
    return { ...answer, headers: withCors(dated), isLive: true };
  }
  return answerPlaylist(viewer, edge, asked, answer);
}

/** Whatever a viewer sends besides, the live process is asked the same. */
function visitOf(
  live: LiveEdge,
  { request, site, name, broadcast, file, query }: AskedFile,
): Omit<Visit, 'absentUpTo'> {
  const isPlaylist = file.endsWith('.m3u8');
  const keyPath = `${pathOf(name)}/hls/${broadcast}/${file}`;
  const kept = isPlaylist ? [] : CONDITIONS.flatMap((field) => pairOf(request, field));
  const target = keyPath + query;
  return {
    request: withRequestHeaders({ ...request, method: 'GET', keyPath, query, target, upgrade: undefined }, kept),
    // Coded and changed behind the cache; parts are never cut into slices.
    site: { ...site, pageCompress: false, rangeBackSource: false, redirectFollow: false },
    key: `${site.id} live ${target}`,
    options: OPTIONS,
    origins: live.origins,
    waitMs: live.limits.waitMs,
  };
}

const CONDITIONS = ['if-none-match', 'if-modified-since'] as const;

function pairOf({ headers }: EdgeRequest, field: (typeof CONDITIONS)[number]): string[] {
  const value = firstValue(headers, field);
  return value === undefined ? [] : [field, value];
}

const OPTIONS: CacheOptions = { ...DEFAULT_CACHE_OPTIONS, heuristicCapSeconds: 0, staleCapSeconds: 0 };

async function answerPlaylist(
  viewer: Viewer,
  edge: EdgeContext,
  { request, site }: AskedFile,
  answer: EdgeAnswer,
): Promise<EdgeAnswer | undefined> {
  const collecting = new CollectingViewer(viewer, MAX_PLAYLIST_BYTES);
  await sendAnswer(collecting, answer, edge, site.id);
  if (viewer.isGone) return undefined;
  const { body } = collecting;
  if (body === undefined || collecting.statusSent !== 200) return errorOf(answer, edge.clock());
  const text = Buffer.from(withViewerQuery(body.toString(), request.query));
  const bytes = site.pageCompress && acceptsGzip(request) ? await compress(text) : text;
  const headers = [
    'Content-Type',
    'application/vnd.apple.mpegurl',
    'Content-Length',
    String(bytes.length),
    'Cache-Control',
    'no-store',
    'Date',
    formatDate(edge.clock()),
    ...(bytes === text ? [] : ['Content-Encoding', 'gzip']),
    ...(site.pageCompress ? ['Vary', 'Accept-Encoding'] : []),
  ];
  const { stored: _, response: __, ...given } = answer;
  return { ...given, headers: withCors(headers), body: { kind: 'pieces', pieces: [bytes] }, isLive: true };
}

/** Larger than a playlist of twelve hours, parts included. */
const MAX_PLAYLIST_BYTES = 4 * 1024 * 1024;
const compress = promisify(gzip);

/** Playlists are small, and made for each viewer: one coding that all players know has to do. */
function acceptsGzip({ headers, httpVersion }: EdgeRequest): boolean {
  const accepted = joinedValue(headers, 'accept-encoding');
  return httpVersion !== '1.0' && accepted !== undefined && acceptsCodings(accepted, 'gzip');
}

/** What the live process, or the way to it, failed to give. */
function errorOf({ status }: EdgeAnswer, now: number): EdgeAnswer {
  if (status === 404) return corsError(404, 'noStream', now);
  if (status === 400) return corsError(400, 'liveTooEarly', now);
  return corsError(503, status === 429 ? 'liveShare' : 'liveUnavailable', now);
}

export function corsError(
  status: number,
  reason: 'noStream' | 'liveTooEarly' | 'liveDirectives' | 'liveUnavailable' | 'liveShare' | 'livePull',
  now: number,
) {
  const answer = errorAnswer(status, { status: 'ERROR', reason }, now);
  const headers = status === 503 ? [...answer.headers, 'Retry-After', RETRY_SECONDS] : answer.headers;
  return { ...answer, headers: withCors(headers), isLive: true } as const;
}

/** A live process that was killed is back within a few seconds. */
const RETRY_SECONDS = '2';

/** Players in pages of other origins must be able to read it. */
export function withCors(headers: RawHeaders): RawHeaders {
  return withField(withoutFields(headers, CORS), 'Access-Control-Allow-Origin', '*');
}

const CORS: ReadonlySet<string> = new Set(['access-control-allow-origin']);
