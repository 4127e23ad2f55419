/**
 * Response fields by which an origin speaks as the server that the viewer is connected to. Here that server is the
 * edge, so these fields are removed before anything is stored. docs/edge.md has the table of all such fields. Pure.
 */
import { FieldNames } from '#http/field-names.ts';
import { type RawHeaders, withoutFields } from '#http/headers.ts';

/** Returns the same list if it has none of these fields. */
export function withoutServerFields(headers: RawHeaders): RawHeaders {
  return withoutFields(headers, SERVER_FIELDS);
}

const SERVER_FIELDS = new FieldNames([
  'alt-svc', // RFC 7838 §3: browsers would go to the origin itself, for a day by default
  'expect-ct', // RFC 9163 §2.1: about the certificate that the server shows, which is the edge's
]);
