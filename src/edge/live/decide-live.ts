/**
 * What becomes of a request for a path that a stream may have: the play key, then the state of the stream. Pure but for
 * what `live` knows.
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
  /**
   * A file of another broadcast than the one on air, or a stream that neither a publisher nor an origin could supply.
   */
  | { readonly kind: 'absent' }
  /** Not known yet: the live process is asked whether it can pull the stream. */
  | { readonly kind: 'pull'; readonly name: StreamName }
  | { readonly kind: 'flv'; readonly name: StreamName }
  /** `query`: the directives of a playlist; empty without any. */
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
  // While nobody tells what is on air, the marks in the edge's own file still do what is forbidden.
  const isMarked = !isSynced && isForbidden(live.source.getLiveMark(site.id, path.app, path.stream), now);
  const isPaused = isMarked || known?.state === 'paused';
  // An origin of the domain may have the stream too, whatever it is asked by.
  if (!METHODS.has(method) || facts.hasBody) return isPaused ? { kind: 'denied', reason: 'paused' } : ORDINARY;
  const isKnown = isPaused || known !== undefined;
  const { primary, backup } = site.origins;
  const hasOrigins = primary.length + backup.length > 0;
  if (!isKnown && isSynced && hasOrigins && (path.kind !== 'flv' || method !== 'GET')) return ORDINARY;
  if (method === 'OPTIONS') return { kind: 'preflight' };
  // It may be a stream that began meanwhile, so neither an origin nor the cache may answer in its place.
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
  // The multivariant playlist is the same whatever part it is asked with.
  return { kind: 'hls', name, broadcast, file, query: file === MULTIVARIANT_NAME ? '' : writeDirectives(directives) };
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
