/**
 * Decides on a request for a path that a stream may have: by the play key, then by the state of the stream. Pure except
 * for the state in `live`.
 */
import { MULTIVARIANT_NAME, readDeliveryDirectives, writeDirectives } from '#fanout/hls/files.ts';
import { isForbidden, type StreamName } from '#sites/live.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeRequest } from '../request.ts';
import type { LiveEdge } from './live.ts';
import { keyedPath, type LivePath, readLivePath } from './live-path.ts';

export type LiveDecision =
  /** No stream has this path: the other stages answer. */
  | { readonly kind: 'ordinary' }
  | { readonly kind: 'preflight' }
  | { readonly kind: 'denied'; readonly reason: 'playKey' | 'paused' }
  /** The live process cannot be reached. */
  | { readonly kind: 'unavailable' }
  /** A file of a broadcast that is not on air, or a stream without publisher or origin. */
  | { readonly kind: 'absent' }
  /** The stream is unknown: the live process is asked whether it can pull it. */
  | { readonly kind: 'pull'; readonly name: StreamName }
  | { readonly kind: 'flv'; readonly name: StreamName }
  /** `query`: the directives of a playlist, or empty. */
  | {
      readonly kind: 'hls';
      readonly name: StreamName;
      readonly broadcast: string;
      readonly file: string;
      readonly query: string;
    }
  /** The playlist's directives are malformed. */
  | { readonly kind: 'malformed' };

const ORDINARY: LiveDecision = { kind: 'ordinary' };

export function decideLive(
  live: Pick<LiveEdge, 'streams' | 'playKeys' | 'source'>,
  site: Site,
  request: EdgeRequest,
  now: number,
): LiveDecision {
  const path = readLivePath(request.keyPath);
  if (path === undefined) return ORDINARY;
  const { method, query, facts } = request;
  const name = { domainId: site.id, app: path.app, stream: path.stream };
  const { isSynced } = live.streams;
  const known = live.streams.get(name);
  // Without the stream table, the marks in the edge's own file still forbid streams.
  const isMarked = !isSynced && isForbidden(live.source.getLiveMark(site.id, path.app, path.stream), now);
  const isPaused = isMarked || known?.state === 'paused';
  // Other methods go to the domain's origin, which may have this path, too.
  if (!METHODS.has(method) || facts.hasBody) return isPaused ? { kind: 'denied', reason: 'paused' } : ORDINARY;
  const isKnown = isPaused || known !== undefined;
  const { primary, backup } = site.origins;
  const hasOrigins = primary.length + backup.length > 0;
  if (!isKnown && isSynced && hasOrigins && (path.kind !== 'flv' || method !== 'GET')) return ORDINARY;
  if (method === 'OPTIONS') return { kind: 'preflight' };
  // A stream may have begun meanwhile, so neither an origin nor the cache may answer.
  if (!isKnown && !isSynced) return { kind: 'unavailable' };
  const asked = { domainId: site.id, path: keyedPath(path), query, now };
  if (!live.playKeys.isAllowed(asked)) return { kind: 'denied', reason: 'playKey' };
  if (isPaused) return { kind: 'denied', reason: 'paused' };
  if (!isSynced) return { kind: 'unavailable' };
  if (known === undefined) return hasOrigins ? { kind: 'pull', name } : { kind: 'absent' };
  if (path.kind === 'flv') return { kind: 'flv', name };
  return decideFile(path, { name, broadcast: known.broadcast, query });
}

function decideFile(
  path: Exclude<LivePath, { readonly kind: 'flv' }>,
  { name, broadcast, query }: { readonly name: StreamName; readonly broadcast: string; readonly query: string },
): LiveDecision {
  const file = path.kind === 'playlist' ? MULTIVARIANT_NAME : path.file;
  if (path.kind === 'hls' && path.broadcast !== broadcast) return { kind: 'absent' };
  if (!file.endsWith('.m3u8')) return { kind: 'hls', name, broadcast, file, query: '' };
  const directives = readDeliveryDirectives(new URLSearchParams(query));
  if (directives === undefined) return { kind: 'malformed' };
  // The multivariant playlist does not depend on directives.
  return { kind: 'hls', name, broadcast, file, query: file === MULTIVARIANT_NAME ? '' : writeDirectives(directives) };
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
