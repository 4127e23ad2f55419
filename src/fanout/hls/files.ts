/** The names of a stream's HLS files, and the delivery directives of playlist requests. */

export const MULTIVARIANT_NAME = 'index.m3u8';
const MEDIA_NAME = 'media.m3u8';

export type HlsFile =
  | { readonly kind: 'multivariant' | 'media' }
  | { readonly kind: 'init'; readonly number: number }
  | { readonly kind: 'segment'; readonly sequence: number }
  | { readonly kind: 'part'; readonly sequence: number; readonly part: number };

export function initName(number: number): string {
  return `init-${number}.mp4`;
}

export function segmentName(sequence: number): string {
  return `${sequence}.m4s`;
}

export function partName(sequence: number, part: number): string {
  return `${sequence}.${part}.m4s`;
}

/** Returns `undefined` if no file has such a name. */
export function readFileName(name: string): HlsFile | undefined {
  if (name === MULTIVARIANT_NAME) return { kind: 'multivariant' };
  if (name === MEDIA_NAME) return { kind: 'media' };
  const init = /^init-(\d{1,9})\.mp4$/.exec(name);
  if (init !== null) return { kind: 'init', number: Number(init[1]) };
  const media = /^(\d{1,9})(?:\.(\d{1,9}))?\.m4s$/.exec(name);
  if (media === null) return undefined;
  const sequence = Number(media[1]);
  return media[2] === undefined ? { kind: 'segment', sequence } : { kind: 'part', sequence, part: Number(media[2]) };
}

/** The delivery directives of a playlist request, RFC 8216bis §6.2.5. */
export interface DeliveryDirectives {
  /** Segment, or part of it, that the playlist must include; `undefined`: any. */
  readonly sequence: number | undefined;
  readonly part: number | undefined;
  /** Whether a delta update will do. */
  readonly maySkip: boolean;
}

/** Returns `undefined`, for a 400, if a directive is repeated or not a number, or a part has no segment. */
export function readDeliveryDirectives(query: URLSearchParams): DeliveryDirectives | undefined {
  if (NAMES.some((name) => query.getAll(name).length > 1)) return undefined;
  const sequence = readNumber(query.get('_HLS_msn'));
  const part = readNumber(query.get('_HLS_part'));
  if (sequence === 'bad' || part === 'bad' || (part !== undefined && sequence === undefined)) return undefined;
  // "v2" also allows date ranges to be left out, of which there are none.
  const maySkip = ['YES', 'v2'].includes(query.get('_HLS_skip') ?? '');
  return { sequence, part, maySkip };
}

const NAMES = ['_HLS_msn', '_HLS_part', '_HLS_skip'] as const;

function readNumber(text: string | null): number | undefined | 'bad' {
  if (text === null) return undefined;
  return /^0{0,20}\d{1,9}$/.test(text) ? Number(text) : 'bad';
}

/** Writes directives as a query in a canonical form; empty if there are none. */
export function writeDirectives({ sequence, part, maySkip }: DeliveryDirectives): string {
  const members = [
    ...(sequence === undefined ? [] : [`_HLS_msn=${sequence}`]),
    ...(part === undefined ? [] : [`_HLS_part=${part}`]),
    ...(maySkip ? ['_HLS_skip=YES'] : []),
  ];
  return members.length === 0 ? '' : `?${members.join('&')}`;
}
