/** The paths that an origin may read in a request. Rules that protect a path look at all of them. Pure. */
import { hasDotSegments, normalizePath, pathAtOrigin } from '#http/target.ts';
import type { PolicyTarget } from '#sites/policy.ts';
import type { EdgeRequest } from '../request.ts';

/**
 * The request as its cache key reads it; as origins read it that decode the path and merge slashes; and, with dot
 * segments, as origins read it that do not resolve them. docs/decisions/0166
 */
export function pathReadings(request: Pick<EdgeRequest, keyof PolicyTarget | 'target'>): readonly PolicyTarget[] {
  const atOrigin = pathAtOrigin(request.keyPath);
  const hasDots = hasDotSegments(request.target);
  if (atOrigin === undefined && !hasDots) return [request];
  const { scheme, host, query } = request;
  const paths = [...(atOrigin === undefined ? [] : [normalizePath(atOrigin)]), ...(hasDots ? [rawPath(request)] : [])];
  return [request, ...paths.map((keyPath) => ({ scheme, host, keyPath, query }))];
}

function rawPath({ target }: Pick<EdgeRequest, 'target'>): string {
  return target.replace(/\?.*/s, '');
}
