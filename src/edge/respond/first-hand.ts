/** Makes the answer from an origin's response for the client that caused the fetch. */
import { isNotModified } from '#http/conditional.ts';
import type { RequestFacts, Stored } from '#http/stored.ts';
import { answerFromStored, firstHandHeaders } from '#http/stored-answer.ts';
import type { OriginResponse } from '../origin/origin-request.ts';
import type { CacheMark } from '../reasons.ts';
import { type EdgeAnswer, type Fill, NO_BODY } from './edge-answer.ts';

export function firstHandAnswer(
  response: OriginResponse,
  mark: CacheMark,
  fill: Fill | undefined,
  admitted?: Stored,
): EdgeAnswer {
  const { status, reason, body } = response;
  const headers = firstHandHeaders(response.headers, response);
  return { status, reason, headers, body: { kind: 'stream', stream: body, fill }, mark, response, admitted };
}

/**
 * Returns a 304 if the client already has the response: the origin could not know, as the conditions were not
 * forwarded. Returns `undefined` if not. RFC 9110 §13.2.1
 */
export function notModifiedAnswer(
  request: RequestFacts,
  stored: Stored,
  mark: CacheMark,
  now: number,
): EdgeAnswer | undefined {
  if (!isNotModified(request, stored, now)) return undefined;
  const answer = answerFromStored(request, stored, { now, bodyBytes: undefined, boundary: '' });
  if (answer.kind !== 'notModified') return undefined;
  return { status: 304, reason: 'Not Modified', headers: answer.headers, body: NO_BODY, mark, response: stored };
}
