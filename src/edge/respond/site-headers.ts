/** Applies the header fields that a site sets, adds or removes to every answer of its own. Pure. docs/decisions/0638 */
import { withSiteHeaders } from '#sites/response-headers.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeAnswer } from './edge-answer.ts';

/** A 101 belongs to the two ends of its connection. */
export function withResponseHeaders(
  { responseHeaders }: Pick<Site, 'responseHeaders'>,
  answer: EdgeAnswer,
): EdgeAnswer {
  if (responseHeaders === undefined || answer.status === 101) return answer;
  return { ...answer, headers: withSiteHeaders(answer.headers, responseHeaders) };
}
