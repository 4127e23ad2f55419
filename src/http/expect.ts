/** What a request expects of its server before it sends its body. RFC 9110 §10.1.1; pure. */
import { allValues, listMembers } from './headers.ts';
import type { RequestHeaders } from './request-fields.ts';

/** `unknown`: something else than `100-continue`, perhaps beside it. */
export type Expectation = 'none' | 'continue' | 'unknown';

/** All lines are one list. What HTTP/1.0 expects is ignored. */
export function expectationOf(headers: RequestHeaders, httpVersion: '1.0' | '1.1' | '2.0'): Expectation {
  const members = httpVersion === '1.0' ? [] : listMembers(allValues(headers, 'expect'));
  if (members.length === 0) return 'none';
  return members.every((member) => member === '100-continue') ? 'continue' : 'unknown';
}
