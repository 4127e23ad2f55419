/**
 * Answers requests for a stream's HLS files, at once or when the file exists (RFC 8216bis §6.2.5.2, blocking reload).
 */
import type { DeliveryDirectives, HlsFile } from './files.ts';
import type { HlsPackager } from './packager.ts';
import { writeMediaPlaylist, writeMultivariantPlaylist } from './playlist.ts';
import type { HlsWindow, Segment } from './window.ts';

/** Limits of requests ahead of the newest segment. §6.2.5.2 */
const MAX_SEGMENTS_AHEAD = 2;
const MAX_AHEAD_SECONDS = 3;

export type PlaylistAnswer =
  | { readonly kind: 'playlist'; readonly text: string }
  /** The request is too far ahead: 400. */
  | { readonly kind: 'tooFar' }
  /** The signal was aborted first: 503. */
  | { readonly kind: 'notYet' }
  /** The broadcast ended without media: 404. */
  | { readonly kind: 'none' };

/** Waits until the formats are known. `mediaUri` is the media playlist's address relative to this playlist. */
export async function answerMultivariant(
  packager: HlsPackager,
  mediaUri: string,
  signal: AbortSignal,
): Promise<PlaylistAnswer> {
  await waitUntil(packager, signal, () => isReady(packager));
  if (!isReady(packager)) return { kind: packager.isEnded ? 'none' : 'notYet' };
  const text = writeMultivariantPlaylist({ ...packager.formats, segments: packager.window.listed }, mediaUri);
  return { kind: 'playlist', text };
}

/** Waits until the requested segment or part exists; without directives, until there is a complete segment. */
export async function answerMedia(
  packager: HlsPackager,
  directives: DeliveryDirectives,
  signal: AbortSignal,
): Promise<PlaylistAnswer> {
  if (!packager.isEnded && isTooFar(packager, directives)) return { kind: 'tooFar' };
  const isThere = () => isReady(packager) && (packager.isEnded || includes(packager.window, directives));
  await waitUntil(packager, signal, isThere);
  if (isThere()) {
    const text = writeMedia(packager, directives.maySkip);
    if (text !== undefined) return { kind: 'playlist', text };
  }
  return { kind: packager.isEnded ? 'none' : 'notYet' };
}

/**
 * Returns the bytes of an init segment, a segment or a part, in pieces. Waits for the part that comes next. Returns
 * `undefined` if the file does not exist and will not, or the signal was aborted.
 */
export async function answerBytes(
  packager: HlsPackager,
  file: Exclude<HlsFile, { kind: 'multivariant' | 'media' }>,
  signal: AbortSignal,
): Promise<readonly Buffer[] | undefined> {
  const { window } = packager;
  switch (file.kind) {
    case 'init': {
      const init = window.init(file.number);
      return init && [init];
    }
    case 'segment':
      return window.segment(file.sequence)?.parts.map(({ bytes }) => bytes);
    case 'part': {
      const { sequence, part } = file;
      await waitUntil(packager, signal, () => !isNextPart(window, sequence, part));
      const found = window.part(sequence, part);
      return found && [found.bytes];
    }
  }
}

async function waitUntil(packager: HlsPackager, signal: AbortSignal, isThere: () => boolean): Promise<void> {
  while (!isThere() && !packager.isEnded && !signal.aborted) await packager.window.change(signal);
}

function isReady({ partTargetMs, targetSeconds }: HlsPackager): boolean {
  return partTargetMs !== undefined && targetSeconds !== undefined;
}

/** Whether the playlist satisfies the directives. The first one has a complete segment: players refuse parts alone. */
function includes({ newest, listed }: HlsWindow, { sequence, part }: DeliveryDirectives): boolean {
  if (newest === undefined) return false;
  if (sequence === undefined) return listed.some(({ isComplete }) => isComplete);
  if (part === undefined) return newest.sequence > sequence || (newest.sequence === sequence && newest.isComplete);
  // A part beyond the end of its segment means the first part of the next segment.
  return newest.sequence > sequence || (newest.sequence === sequence && newest.parts.length > part);
}

/** Whether a request is too far ahead. Parts of the next three seconds, at least three, may be requested. §6.2.5.2 */
function isTooFar({ window, partTargetMs }: HlsPackager, { sequence, part }: DeliveryDirectives): boolean {
  if (sequence === undefined) return false;
  const newest = window.nextSequence - 1;
  if (sequence > newest + MAX_SEGMENTS_AHEAD) return true;
  if (part === undefined || sequence < newest) return false;
  const ahead = Math.max(MAX_AHEAD_SECONDS, (MAX_AHEAD_SECONDS * 1000) / (partTargetMs ?? 1000));
  // The limit also covers segments that have not begun: otherwise clients could wait for any number of parts.
  const parts = sequence === newest ? (window.newest?.parts.length ?? 0) : 0;
  return part > parts - 1 + ahead;
}

/** Whether this is the part that the preload hint names. */
function isNextPart(window: HlsWindow, sequence: number, part: number): boolean {
  const next = nextPart(window.newest, window.nextSequence);
  return next.sequence === sequence && next.part === part;
}

function nextPart(newest: Segment | undefined, nextSequence: number): { sequence: number; part: number } {
  return newest === undefined || newest.isComplete
    ? { sequence: nextSequence, part: 0 }
    : { sequence: newest.sequence, part: newest.parts.length };
}

function writeMedia(packager: HlsPackager, maySkip: boolean): string | undefined {
  const { window, partTargetMs, targetSeconds, isEnded } = packager;
  if (partTargetMs === undefined || targetSeconds === undefined) return undefined;
  const { discontinuitySequence } = window;
  const next = isEnded ? undefined : nextPart(window.newest, window.nextSequence);
  return writeMediaPlaylist(
    { segments: window.fixTimes(), discontinuitySequence, targetSeconds, partTargetMs, next },
    maySkip,
  );
}
