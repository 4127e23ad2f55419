/** How origins are asked for content that the edge codes or puts together itself: as it is, whatever the client would take. Pure. */
import { withField } from '#http/headers.ts';
import { wholeSection } from '#http/request-fields.ts';
import type { Site } from '#sites/site.ts';
import { type EdgeRequest, withRequestHeaders } from '../request.ts';

/** So that all clients share one stored response, also where the origin says that it varies. Else the same request. Edge rules 8, 9 */
export function askedUncoded(site: Site, request: EdgeRequest): EdgeRequest {
  if (!isUncoded(site)) return request;
  return withRequestHeaders(request, withField(wholeSection(request.headers), 'Accept-Encoding', 'identity'));
}

export function isUncoded({ pageCompress, rangeBackSource }: Site): boolean {
  return pageCompress || rangeBackSource;
}
