/** A playlist for one viewer: each address in it bears the viewer's own query, so that the key goes with every request. Pure. */
import { isAuthKeyMember } from '#sites/live-key.ts';

/**
 * A playlist has some fifty addresses, and each repeats the query: a request of 8 KiB must not be answered by hundreds of kilobytes.
 * A signed key has at most 182 characters.
 */
const MAX_QUERY_CHARS = 512;

/**
 * `query`: from the question mark on, as the viewer wrote it; empty without one. The player's own `_HLS_*` is left out. Of a query that
 * is too long only the key is kept, if that is short enough.
 */
export function withViewerQuery(playlist: string, query: string): string {
  const kept = keptQuery(query);
  if (kept === '') return playlist;
  return playlist
    .split('\n')
    .map((line) => {
      if (line === '' || line === '\r') return line;
      if (line.startsWith('#'))
        return line.replace(/URI="([^"]*)"/g, (_, uri: string) => `URI="${addQuery(uri, kept)}"`);
      return line.endsWith('\r') ? `${addQuery(line.slice(0, -1), kept)}\r` : addQuery(line, kept);
    })
    .join('\n');
}

function keptQuery(query: string): string {
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

/** However it is written: a directive that went on into a playlist would stand there twice with the player's next one. */
function isOfPlayer(member: string): boolean {
  return [...new URLSearchParams(member).keys()].some((name) => name.startsWith('_HLS_'));
}

function addQuery(uri: string, query: string): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
