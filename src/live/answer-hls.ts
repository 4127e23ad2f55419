/** Answers edge workers that ask for the HLS files of a broadcast, and says how long they may keep each. */
import type { ServerResponse } from 'node:http';
import { answerBytes, answerMedia, answerMultivariant, type PlaylistAnswer } from '#fanout/hls/delivery.ts';
import { type HlsFile, readDeliveryDirectives, readFileName } from '#fanout/hls/files.ts';
import type { HlsPackager } from '#fanout/hls/packager.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { Broadcast } from './broadcast.ts';
import { refuse } from './refuse.ts';

export interface AskedHls {
  readonly broadcast: Broadcast;
  /** The stream's name: the multivariant playlist lies beside a folder of that name. */
  readonly stream: string;
  readonly file: string;
  readonly query: URLSearchParams;
  onFile(kind: HlsFile['kind']): void;
}

/** Segment names are never reused, so a segment may be cached as immutable. */
const SEGMENT_CACHING = 'max-age=3600, immutable';
/** Cache lifetime of a playlist from a blocking reload: its URL names the part that it waited for. */
const BLOCKING_CACHING = 'max-age=6';
/** Cache lifetime of a plain playlist. It goes stale with the next part, but collapses requests within a second. */
const PLAYLIST_CACHING = 'max-age=1';
/** RFC 8216bis §6.2.5.2: a blocking reload is given up after three target durations. */
const TARGETS_WAITED = 3;
/** Assumed target duration while a broadcast has not determined its own. */
const FIRST_TARGET_SECONDS = 5;

export async function answerHls(asked: AskedHls, response: ServerResponse): Promise<void> {
  const file = readFileName(asked.file);
  const directives = readDeliveryDirectives(asked.query);
  if (file === undefined) return refuse(response, 404);
  if (directives === undefined) return refuse(response, 400);
  asked.onFile(file.kind);
  const packager = asked.broadcast.askHls();
  const signal = waitFor(packager, response);
  switch (file.kind) {
    case 'multivariant': {
      const uri = `${asked.stream}/${asked.broadcast.id}/media.m3u8`;
      return givePlaylist(await answerMultivariant(packager, uri, signal), PLAYLIST_CACHING, response);
    }
    case 'media': {
      const caching = directives.sequence === undefined ? PLAYLIST_CACHING : BLOCKING_CACHING;
      return givePlaylist(await answerMedia(packager, directives, signal), caching, response);
    }
    case 'init':
    case 'segment':
    case 'part':
      return giveBytes(await answerBytes(packager, file, signal), response);
    default:
      unreachable(file);
  }
}

function giveBytes(pieces: readonly Buffer[] | undefined, response: ServerResponse): void {
  if (pieces === undefined) {
    refuse(response, 404);
    return;
  }
  response.writeHead(200, {
    'content-type': 'video/mp4',
    'content-length': pieces.reduce((sum, { length }) => sum + length, 0),
    'cache-control': SEGMENT_CACHING,
  });
  for (const piece of pieces) response.write(piece);
  response.end();
}

function givePlaylist(answer: PlaylistAnswer, caching: string, response: ServerResponse): void {
  switch (answer.kind) {
    case 'playlist': {
      const body = Buffer.from(answer.text);
      const headers = { 'content-type': 'application/vnd.apple.mpegurl', 'content-length': body.length };
      response.writeHead(200, { ...headers, 'cache-control': caching }).end(body);
      break;
    }
    case 'tooFar':
      refuse(response, 400);
      break;
    case 'notYet':
      refuse(response, 503);
      break;
    case 'none':
      refuse(response, 404);
      break;
    default:
      unreachable(answer);
  }
}

function waitFor({ targetSeconds = FIRST_TARGET_SECONDS }: HlsPackager, response: ServerResponse): AbortSignal {
  const waiting = new AbortController();
  // The reasons spare an error with its stack for each answer.
  const timer = setTimeout(() => waiting.abort('late'), targetSeconds * TARGETS_WAITED * 1000);
  response.once('close', () => {
    clearTimeout(timer);
    waiting.abort('left');
  });
  return waiting.signal;
}
