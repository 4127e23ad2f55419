/** Completes the head of an answer, except for the fields of the connection. Pure. */
import { FieldNames } from '#http/field-names.ts';
import { joinedWith, type RawHeaders, withoutFields } from '#http/headers.ts';
import { SERVICE_NAME } from '../origin-headers.ts';
import { formatMark } from '../reasons.ts';
import { cacheStatus } from './cache-status.ts';
import type { EdgeAnswer } from './edge-answer.ts';

/** Returns the answer's fields with those that this hop adds. `cdnId`: see `CdnName`. */
export function finalHeaders(answer: EdgeAnswer, cdnId: string): RawHeaders {
  const { headers, mark, status } = answer;
  return [
    // RFC 9110 §8.6: neither in a 204
    ...withoutFields(headers, status === 204 ? REPLACED_IN_204 : REPLACED),
    'Via',
    joinedWith(headers, 'via', `1.1 ${cdnId}`),
    'X-Cache',
    formatMark(mark),
    'Cache-Status',
    // RFC 9211 §2: caches are listed from the origin to the client
    joinedWith(headers, 'cache-status', (answer.cacheName ?? SERVICE_NAME) + cacheStatus(answer)),
  ];
}

/** Fields that are replaced. An origin's own X-Cache would be taken for ours. */
const REPLACED = new FieldNames(['via', 'x-cache', 'cache-status']);
const REPLACED_IN_204 = REPLACED.with('content-length');

/** Returns the reason phrase, or an empty text if it does not fit into a status line: undici decodes it as UTF-8. */
export function safeReason(reason: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : '';
}
