/**
 * The fields of a call that may be read at all, whoever reads it off its connection: one that a rule depends on has to be known to
 * `bare/read-call.ts` as well. docs/decisions/0380, 0415
 */
import type { IncomingHttpHeaders } from 'node:http';
import { LOCAL_USER_FIELD } from '#contract/schema/local-user.ts';

/**
 * Names in lower case. `test/architecture.test.ts` lists the files that read other fields, of requests that are not
 * calls.
 */
export const CALL_FIELDS = [
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'accept-language',
  'x-forwarded-for',
  'x-request-id',
  'idempotency-key',
  'user-agent',
  'cookie',
  'origin',
  'sec-fetch-site',
  LOCAL_USER_FIELD,
] as const;

export type CallField = (typeof CALL_FIELDS)[number];

/** Absent where the call does not have it. */
export type CallFields = Readonly<Partial<Record<CallField, string>>>;

/**
 * Reads the fields from node:http, which joins the lines of one name. Its type allows a list for every name that it
 * does not know.
 */
export function callFieldsOf(headers: IncomingHttpHeaders): CallFields {
  const fields: { -readonly [N in CallField]?: string } = {};
  for (const name of CALL_FIELDS) {
    const value = headers[name]?.toString();
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}
