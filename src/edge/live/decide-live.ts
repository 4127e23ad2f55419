/** What becomes of a request for a path that a stream may have: the play key, then the state of the stream. Pure but for what `live` knows. */
import { isForbidden } from '#sites/live.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeRequest } from '../request.ts';
import type { LiveEdge } from './live.ts';
import { keyedPath, readLivePath, type StreamName } from './live-path.ts';

export type LiveDecision =
  /** No stream has this path: the other stages answer. */
  | { readonly kind: 'ordinary' }
  | { readonly kind: 'preflight' }
  | { readonly kind: 'denied'; readonly reason: 'playKey' | 'paused' }
  /** The live process cannot be reached. */
  | { readonly kind: 'unavailable' }
  /** Of another broadcast than the one that is on air, or of a stream that nobody could bring. */
  | { readonly kind: 'absent' }
  /** Not known yet: the live process is asked whether it can pull the stream. */
  | { readonly kind: 'pull'; readonly name: StreamName }
  | { readonly kind: 'flv'; readonly name: StreamName }
  | { readonly kind: 'hls'; readonly name: StreamName; readonly broadcast: string; readonly file: string };

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
  if (!isKnown && (path.kind !== 'flv' || method !== 'GET')) return ORDINARY;
  if (method === 'OPTIONS') return { kind: 'preflight' };
  const asked = { domainId: site.id, path: keyedPath(path), query, now };
  if (!live.playKeys.isAllowed(asked)) return { kind: 'denied', reason: 'playKey' };
  if (isPaused) return { kind: 'denied', reason: 'paused' };
  if (!isSynced) return { kind: 'unavailable' };
  if (known === undefined) {
    const { primary, backup } = site.origins;
    return primary.length + backup.length === 0 ? { kind: 'absent' } : { kind: 'pull', name };
  }
  if (path.kind === 'flv') return { kind: 'flv', name };
  const { broadcast } = known;
  if (path.kind === 'playlist') return { kind: 'hls', name, broadcast, file: 'index.m3u8' };
  return path.broadcast === broadcast ? { kind: 'hls', name, broadcast, file: path.file } : { kind: 'absent' };
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
