/** Adds the viewer's query to each address of a playlist, so that every request has the key. Pure. */
import { isAuthKeyMember } from '#sites/live-key.ts';

/**
 * Longest query that is added. A playlist repeats it at some fifty addresses, and a request of 8 KiB must not cause an
 * answer of hundreds of kilobytes. A signed key has at most 182 characters.
 */
const MAX_QUERY_CHARS = 512;

/** Divides the playlist after each of its addresses, which have no query of their own. */
export function splitPlaylist(playlist: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const { index, 0: address } of playlist.matchAll(ADDRESS)) {
    const end = index + address.length;
    pieces.push(playlist.slice(from, end));
    from = end;
  }
  return [...pieces, playlist.slice(from)];
}

/** The attribute URI of a tag, up to its closing quote, or a line that is not a tag. */
const ADDRESS = /(?<=^#.*)URI="[^"\n]*(?=")|^[^#\r\n][^\r\n]*/gm;

/**
 * `query`: from the question mark on, as sent, or empty. The player's own `_HLS_*` members are left out. Of a query
 * that is too long, only the key is kept, if that is short enough.
 */
export function withViewerQuery(pieces: readonly string[], query: string): string {
  const kept = keptQuery(query);
  return pieces.join(kept === '' ? '' : `?${kept}`);
}

function keptQuery(query: string): string {
  if (query === '') return '';
  const members = query
    .slice(1)
    .split('&')
    .filter((member) => member !== '' && !isOfPlayer(member))
    .map((member) => member.replaceAll('"', '%22'));
  const whole = members.join('&');
  if (whole.length <= MAX_QUERY_CHARS) return whole;
  const key = members.find(isAuthKeyMember) ?? '';
  return key.length <= MAX_QUERY_CHARS ? key : '';
}

/**
 * Whether the member is a directive, in any encoding: repeated in a playlist, it would be there twice in the next
 * request.
 */
function isOfPlayer(member: string): boolean {
  if (!member.startsWith('_') && !member.startsWith('%')) return false;
  return [...new URLSearchParams(member).keys()].some((name) => name.startsWith('_HLS_'));
}
