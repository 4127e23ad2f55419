/** Which paths of a live domain may belong to a stream. Pure. docs/decisions/0496 */
import type { StreamName } from '#sites/live.ts';

export type LivePath = Pick<StreamName, 'app' | 'stream'> &
  (
    | { readonly kind: 'flv' }
    /** The multivariant playlist. */
    | { readonly kind: 'playlist' }
    /** What playlists name: `{stream}/{broadcast}/{file}`. */
    | { readonly kind: 'hls'; readonly broadcast: string; readonly file: string }
  );

const NAME = '[A-Za-z0-9][A-Za-z0-9_.-]';
const STREAM = new RegExp(`^/(${NAME}{0,63})/(${NAME}{0,127})\\.(flv|m3u8)$`);
/** A number without leading zeros: a file has only one name. */
const NUMBER = '(?:0|[1-9]\\d{0,8})';
const FILE = new RegExp(
  `^/(${NAME}{0,63})/(${NAME}{0,127})/([a-z0-9]{1,32})/(media\\.m3u8|init-${NUMBER}\\.mp4|${NUMBER}(?:\\.${NUMBER})?\\.m4s)$`,
);

/** `keyPath`: normalized, without the query. `undefined`: no stream has it. */
export function readLivePath(keyPath: string): LivePath | undefined {
  const [, app = '', stream = '', extension] = STREAM.exec(keyPath) ?? [];
  if (extension !== undefined) return { app, stream, kind: extension === 'flv' ? 'flv' : 'playlist' };
  const [, fileApp = '', fileStream = '', broadcast = '', file] = FILE.exec(keyPath) ?? [];
  return file === undefined ? undefined : { app: fileApp, stream: fileStream, kind: 'hls', broadcast, file };
}

/** What a viewer's key is made for: the address that it was given, also where a playlist led it on. */
export function keyedPath({ app, stream, kind }: LivePath): string {
  return `/${app}/${stream}.${kind === 'flv' ? 'flv' : 'm3u8'}`;
}
