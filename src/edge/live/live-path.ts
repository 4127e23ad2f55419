/** Parses the paths of streams. Pure. docs/decisions/0496 */
import type { StreamName } from '#sites/live.ts';

export type LivePath = Pick<StreamName, 'app' | 'stream'> &
  (
    | { readonly kind: 'flv' }
    /** The multivariant playlist. */
    | { readonly kind: 'playlist' }
    /** A file that playlists refer to: `{stream}/{broadcast}/{file}`. */
    | { readonly kind: 'hls'; readonly broadcast: string; readonly file: string }
  );

const NAME = '[A-Za-z0-9][A-Za-z0-9_.-]';
const STREAM = new RegExp(`^/(${NAME}{0,63})/(${NAME}{0,127})\\.(flv|m3u8)$`);
/** A number without leading zeros, so that a file has only one name. */
const NUMBER = '(?:0|[1-9]\\d{0,8})';
const FILE = new RegExp(
  `^/(${NAME}{0,63})/(${NAME}{0,127})/([a-z0-9]{1,32})/(media\\.m3u8|init-${NUMBER}\\.mp4|${NUMBER}(?:\\.${NUMBER})?\\.m4s)$`,
);

/** Returns `undefined` if no stream can have the path. `keyPath`: normalized, without the query. */
export function readLivePath(keyPath: string): LivePath | undefined {
  const [, app = '', stream = '', extension] = STREAM.exec(keyPath) ?? [];
  if (extension !== undefined) return { app, stream, kind: extension === 'flv' ? 'flv' : 'playlist' };
  const [, fileApp = '', fileStream = '', broadcast = '', file] = FILE.exec(keyPath) ?? [];
  return file === undefined ? undefined : { app: fileApp, stream: fileStream, kind: 'hls', broadcast, file };
}

/** Returns the path that a viewer's key is signed for: that of the FLV or the multivariant playlist. */
export function keyedPath({ app, stream, kind }: LivePath): string {
  return `/${app}/${stream}.${kind === 'flv' ? 'flv' : 'm3u8'}`;
}
