/** A playlist for one viewer: each address in it bears the viewer's own query, so that the key goes with every request. Pure. */

/** `query`: from the question mark on, as the viewer wrote it; empty without one. The player's own `_HLS_*` is left out of it. */
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

/** The player's own members of the query: what a playlist depends on. The same question is always written the same. Empty without any. */
export function hlsQuery(query: string): string {
  const members = new Map<string, string>();
  for (const member of splitQuery(query)) {
    const [, name, number] = NUMBER.exec(member) ?? SKIP.exec(member) ?? [];
    if (name !== undefined && !members.has(name)) members.set(name, `${name}=${number ?? 'YES'}`);
  }
  return members.size === 0 ? '' : `?${[...members.values()].sort().join('&')}`;
}

const NUMBER = /^(_HLS_(?:msn|part))=0*(\d{1,12})$/;
/** `v2` leaves out what `YES` does: there are no date ranges. */
const SKIP = /^(_HLS_skip)=(?:YES|v2)$/;

function keptQuery(query: string): string {
  return splitQuery(query)
    .filter((member) => !isOfPlayer(member))
    .join('&')
    .replaceAll('"', '%22');
}

function isOfPlayer(member: string): boolean {
  return member.startsWith('_HLS_');
}

function splitQuery(query: string): string[] {
  return query
    .slice(1)
    .split('&')
    .filter((member) => member !== '');
}

function addQuery(uri: string, query: string): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
