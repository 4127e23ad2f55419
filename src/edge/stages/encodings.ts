/** Requests uncoded content from origins where the edge itself compresses or assembles slices. Pure. */
import { withField } from '#http/headers.ts';
import { wholeSection } from '#http/request-fields.ts';
import type { Site } from '#sites/site.ts';
import { type EdgeRequest, withRequestHeaders } from '../request.ts';

/**
 * Returns the request with `Accept-Encoding: identity` if the site needs uncoded content; otherwise the same request.
 * All clients then share one stored response, even if the origin says that it varies. Edge rules 8, 9
 */
export function askedUncoded(site: Site, request: EdgeRequest): EdgeRequest {
  if (!isUncoded(site)) return request;
  return withRequestHeaders(request, withField(wholeSection(request.headers), 'Accept-Encoding', 'identity'));
}

export function isUncoded({ pageCompress, rangeBackSource }: Site): boolean {
  return pageCompress || rangeBackSource;
}
