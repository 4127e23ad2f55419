/** Stage 10: the head with what this hop adds, then the body, at the client's pace. */
import { allValues, type RawHeaders, withoutFields } from '#http/headers.ts';
import type { Clock } from '#lib/clock.ts';
import { SERVICE_NAME } from '../origin/request-headers.ts';
import { formatMark } from '../reasons.ts';
import { SliceLost } from '../slices/body.ts';
import type { Viewer } from '../viewer.ts';
import type { BodyPiece, EdgeAnswer } from './answer.ts';
import { cacheStatus } from './cache-status.ts';
import { errorAnswer } from './error-page.ts';
import { followBody } from './follow.ts';
import type { LagBudget } from './lag.ts';
import type { Pins } from './pins.ts';
import { abandonBody, streamToViewer, streamUnread } from './stream.ts';
import { runTunnel, type TunnelLimits } from './tunnel.ts';

export interface SendOptions {
  /** The connection ends with its answer. */
  readonly isClosing: () => boolean;
  readonly clock: Clock;
  readonly lag: LagBudget;
  readonly pins: Pins;
  readonly unreadFetchMs: number;
  readonly webSockets: { readonly limits: TunnelLimits };
}

/** Resolves when the answer is out, whole or not; the viewer knows which. Gives the one that was sent in the end. */
export async function sendAnswer(viewer: Viewer, answer: EdgeAnswer, options: SendOptions): Promise<EdgeAnswer> {
  if (await send(viewer, answer, options)) return answer;
  const instead = errorAnswer(502, { status: 'ERROR', reason: 'originCut' }, options.clock());
  await send(viewer, instead, options);
  return instead;
}

/** False: the origin's body broke off while another answer can still be given. */
async function send(viewer: Viewer, answer: EdgeAnswer, options: SendOptions): Promise<boolean> {
  const closes = answer.body.kind !== 'tunnel' && (answer.closes === true || options.isClosing());
  viewer.sendHead(answer.status, safeReason(answer.reason), finalHeaders(answer, closes));
  switch (answer.body.kind) {
    case 'none':
      await viewer.end();
      return true;
    case 'pieces':
      return sendPieces(viewer, answer.body.pieces, options.pins);
    case 'stream':
      return streamToViewer(viewer, answer.body.stream, answer.body.fill, options);
    case 'live':
      return followBody(viewer, answer.body.live, { fetchRest: answer.body.fetchRest, pins: options.pins });
    case 'tunnel': {
      const client = viewer.switchProtocols();
      if (client === undefined) abandonBody(answer.body);
      else await runTunnel(client, answer.body, options.webSockets.limits);
      return true;
    }
    case 'fill':
      void streamUnread(answer.body.stream, answer.body.fill, options); // never rejects; the client does not wait for it
      await viewer.end();
      return true;
  }
}

function finalHeaders(answer: EdgeAnswer, closes: boolean): RawHeaders {
  const { headers, mark, status } = answer;
  const via = [...allValues(headers, 'via'), `1.1 ${SERVICE_NAME}`].join(', ');
  // RFC 9211 §2: the caches in the order of the response's way
  const caches = [...allValues(headers, 'cache-status'), SERVICE_NAME + cacheStatus(answer)].join(', ');
  // RFC 9110 §8.6: neither in a 204
  const kept = withoutFields(headers, status === 204 ? REPLACED_IN_204 : REPLACED);
  const own = ['Via', via, 'X-Cache', formatMark(mark), 'Cache-Status', caches];
  return [...kept, ...own, ...(closes ? ['Connection', 'close'] : [])];
}

/** An origin's own X-Cache would be taken for ours. */
const REPLACED: ReadonlySet<string> = new Set(['via', 'x-cache', 'cache-status']);
const REPLACED_IN_204: ReadonlySet<string> = new Set([...REPLACED, 'content-length']);

/** undici reads it as UTF-8; what does not fit into a status line is left out, as HTTP/2 does with all of it. */
function safeReason(reason: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : '';
}

async function sendPieces(viewer: Viewer, pieces: readonly BodyPiece[], pins: Pins): Promise<boolean> {
  try {
    await writePieces(viewer, pieces, pins);
  } catch (error) {
    if (!(error instanceof SliceLost)) throw error;
    if (!viewer.isBegun) return viewer.isGone;
    viewer.cut(502); // the client is to see that its answer is not whole
    return true;
  }
  await viewer.end();
  return true;
}

async function writePieces(viewer: Viewer, pieces: readonly BodyPiece[], pins: Pins): Promise<void> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      if (!viewer.write(piece)) await viewer.drained();
    } else {
      await writeSpan(viewer, piece, pins);
    }
    if (viewer.isGone) return;
  }
}

async function writeSpan(viewer: Viewer, { body, span }: Exclude<BodyPiece, Buffer>, pins: Pins): Promise<void> {
  let release: (() => void) | undefined;
  try {
    for await (const chunk of body.read(span)) {
      if (viewer.isGone) return;
      if (viewer.write(chunk)) continue;
      release ??= pins.hold(body, viewer);
      await viewer.drained();
    }
  } finally {
    release?.();
  }
}
