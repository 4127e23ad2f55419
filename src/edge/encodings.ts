/** How origins are asked for content that the edge codes itself: as it is, whatever the client would take. Pure. Edge rule 8 */
import { withField } from '#http/headers.ts';
import type { Site } from '#sites/site.ts';
import { type EdgeRequest, withRequestHeaders } from './request.ts';

/** So that all clients share one stored response, also where the origin says that it varies. The same request where nothing is coded. */
export function askedUncoded({ pageCompress }: Site, request: EdgeRequest): EdgeRequest {
  if (!pageCompress) return request;
  return withRequestHeaders(request, withField(request.headers, 'Accept-Encoding', 'identity'));
}
