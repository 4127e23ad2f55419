/** The files of a recording, made from its pieces: the playlist, its segments, and the whole as one MP4 file. Pure. */
import type { RecordingPiece } from '#db/tables/live/recordings.ts';
import { type JoinedFile, joinBlobs } from '../store/joined.ts';

/** Returns the init segment, with which each piece begins; `undefined` if there are no pieces. */
export function initFile([first]: readonly RecordingPiece[]): JoinedFile | undefined {
  return first && joinBlobs([{ key: first.key, bytes: first.initBytes }]);
}

/** Returns `undefined` if there is no such piece. */
export function mediaFile(pieces: readonly RecordingPiece[], n: number): JoinedFile | undefined {
  const piece = pieces.find((one) => one.n === n);
  return piece && joinBlobs([mediaOf(piece)]);
}

/** Returns `undefined` if there are no pieces. */
export function wholeFile(pieces: readonly RecordingPiece[]): JoinedFile | undefined {
  const [first, ...others] = pieces;
  if (first === undefined) return undefined;
  return joinBlobs([{ key: first.key, bytes: first.initBytes + first.mediaBytes }, ...others.map(mediaOf)]);
}

function mediaOf({ key, initBytes, mediaBytes }: RecordingPiece) {
  return { key, start: initBytes, bytes: mediaBytes };
}

/**
 * Writes a playlist (RFC 8216) with `query` at every address. A recording that continues is an EVENT, which players
 * reload.
 */
export function writeRecordingPlaylist(pieces: readonly RecordingPiece[], query: string, isOver: boolean): string {
  const longestMs = Math.max(1000, ...pieces.map(({ durationMs }) => durationMs));
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.ceil(longestMs / 1000)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    `#EXT-X-PLAYLIST-TYPE:${isOver ? 'VOD' : 'EVENT'}`,
  ];
  for (const [index, { n, durationMs, isDiscontinuity }] of pieces.entries()) {
    const isHole = index > 0 && pieces[index - 1]?.n !== n - 1;
    const isBroken = isHole || (isDiscontinuity && index > 0);
    if (isBroken) lines.push('#EXT-X-DISCONTINUITY');
    if (isBroken || index === 0) lines.push(`#EXT-X-MAP:URI="init.mp4?${query}"`);
    lines.push(`#EXTINF:${(durationMs / 1000).toFixed(3)},`, `${n}.m4s?${query}`);
  }
  if (isOver) lines.push('#EXT-X-ENDLIST');
  return `${lines.join('\n')}\n`;
}
