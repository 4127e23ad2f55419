/**
 * Answers requests for HLS files: files are cached without the viewer's key, and each playlist gets the viewer's query.
 * docs/decisions/0496, 0515
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsCodings } from '#http/content-coding.ts';
import { formatDate } from '#http/dates.ts';
import { joinedValue, type RawHeaders } from '#http/headers.ts';
import { clientNetwork } from '#lib/cidr.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeContext } from '../context.ts';
import type { CacheMark } from '../reasons.ts';
import type { EdgeRequest } from '../request.ts';
import type { AnswerBody, EdgeAnswer } from '../respond/edge-answer.ts';
import type { Viewer } from '../viewer.ts';
import { viewerText } from './audience.ts';
import { CORS_HEADERS, corsError } from './cors.ts';
import type { HlsAnswer, ReadyHlsFile } from './hls-files.ts';
import type { LiveEdge } from './live.ts';
import { pathOf } from './owner-client.ts';
import { splitPlaylist, withViewerQuery } from './playlist.ts';

export interface AskedFile {
  readonly request: EdgeRequest;
  readonly site: Site;
  readonly name: StreamName;
  readonly broadcast: string;
  readonly file: string;
  /** Directives of a playlist, or empty. */
  readonly query: string;
}

/** Returns `undefined` if the viewer has left. */
export async function answerHls(
  viewer: Viewer,
  edge: EdgeContext,
  live: LiveEdge,
  asked: AskedFile,
): Promise<EdgeAnswer | undefined> {
  const { request, name, broadcast, file, query } = asked;
  const now = edge.clock();
  live.audience.note(streamKey(name), viewerText(request), now);
  const path = `${pathOf(name)}/hls/${broadcast}/${file}${query}`;
  const held = live.files.find(path, now);
  if (held !== undefined) return answerWith(edge, asked, held, HIT);
  const client = clientNetwork(request.clientAddress);
  if (!live.waits.mayTake(client, 1)) return corsError(503, 'liveWaits', now);
  live.waits.add(client, 1);
  const { answer, isFirst } = live.files.ask(path);
  await Promise.race([answer, viewer.ended]);
  live.waits.add(client, -1);
  if (viewer.isGone) return undefined;
  return answerWith(edge, asked, await answer, isFirst ? MISS : HIT);
}

const HIT: CacheMark = { status: 'HIT' };
const MISS: CacheMark = { status: 'MISS' };

function answerWith(
  edge: EdgeContext,
  asked: AskedFile,
  held: HlsAnswer,
  mark: CacheMark,
): EdgeAnswer | Promise<EdgeAnswer> {
  const now = edge.clock();
  if (held.kind === 'refused') return refusalOf(held.status, now);
  if (asked.file.endsWith('.m3u8')) return answerPlaylist(asked, held, mark, now);
  const { body } = held;
  const piece = { body, span: { first: 0, last: body.sizeBytes - 1 } };
  return okAnswer(held.headersAt(formatDate(now)), { kind: 'pieces', pieces: [piece] }, mark);
}

function okAnswer(headers: RawHeaders, body: AnswerBody, mark: CacheMark): EdgeAnswer {
  return { status: 200, reason: 'OK', headers, body, mark, isLive: true };
}

async function answerPlaylist(
  { request, site }: AskedFile,
  file: ReadyHlsFile,
  mark: CacheMark,
  now: number,
): Promise<EdgeAnswer> {
  const text = Buffer.from(withViewerQuery(file.piecesBy(splitPlaylist), request.query));
  const bytes = site.pageCompress && acceptsGzip(request) ? await compress(text) : text;
  const headers = [
    'Content-Type',
    'application/vnd.apple.mpegurl',
    'Content-Length',
    String(bytes.length),
    'Cache-Control',
    'no-store',
    'Date',
    formatDate(now),
    ...(bytes === text ? [] : ['Content-Encoding', 'gzip']),
    ...(site.pageCompress ? ['Vary', 'Accept-Encoding'] : []),
    ...CORS_HEADERS,
  ];
  return okAnswer(headers, { kind: 'pieces', pieces: [bytes] }, mark);
}

const compress = promisify(gzip);

/**
 * Whether to use gzip, the one coding for playlists: they are small and made for each viewer, and all players know it.
 */
function acceptsGzip({ headers, httpVersion }: EdgeRequest): boolean {
  const accepted = joinedValue(headers, 'accept-encoding');
  return httpVersion !== '1.0' && accepted !== undefined && acceptsCodings(accepted, 'gzip');
}

/** Returns the answer for an error of the live process or of the connection to it. */
function refusalOf(status: number, now: number): EdgeAnswer {
  if (status === 404) return corsError(404, 'noStream', now);
  if (status === 400) return corsError(400, 'liveTooEarly', now);
  return corsError(503, status === 429 ? 'liveShare' : 'liveUnavailable', now);
}
