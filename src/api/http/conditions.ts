/** Conditions of a request for something that has a strong entity tag and no date of its last change. RFC 9110 §13.2.2 */
import type { FastifyRequest } from 'fastify';
import { isStrongMatch, isWeakMatch, parseEntityTags } from '#http/entity-tag.ts';

/** Returns a status that is the whole answer, or `answer`. */
export function evaluateConditions(headers: FastifyRequest['headers'], etag: string): 412 | 304 | 'answer' {
  const [ifMatch, ifNoneMatch] = [headers['if-match'], headers['if-none-match']];
  if (ifMatch !== undefined && !isListed(ifMatch, (tag) => isStrongMatch(tag, etag))) return 412;
  if (ifNoneMatch !== undefined && isListed(ifNoneMatch, (tag) => isWeakMatch(tag, etag))) return 304;
  return 'answer';
}

function isListed(field: string, isMatch: (tag: string) => boolean): boolean {
  const tags = parseEntityTags(field);
  return tags === '*' || tags.some(isMatch);
}
