/** Reads what a client expects before it sends the request body. RFC 9110 §10.1.1; pure. */
import { allValues, listMembers } from './headers.ts';
import type { RequestHeaders } from './request-fields.ts';

/** `unknown`: there is an expectation other than `100-continue`. */
export type Expectation = 'none' | 'continue' | 'unknown';

/** All lines form one list. Expectations of HTTP/1.0 clients are ignored. */
export function expectationOf(headers: RequestHeaders, httpVersion: '1.0' | '1.1' | '2.0'): Expectation {
  const members = httpVersion === '1.0' ? [] : listMembers(allValues(headers, 'expect'));
  if (members.length === 0) return 'none';
  return members.every((member) => member === '100-continue') ? 'continue' : 'unknown';
}
