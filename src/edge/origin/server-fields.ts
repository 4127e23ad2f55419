/**
 * Response fields by which an origin speaks as the server that the viewer is connected to. Here the edge is that server, so they
 * end with the origin's response, before anything is stored. The table of all such fields is in docs/edge.md. Pure.
 */
import { FieldNames } from '#http/field-names.ts';
import { type RawHeaders, withoutFields } from '#http/headers.ts';

/** Returns the same list when it has none of them. */
export function withoutServerFields(headers: RawHeaders): RawHeaders {
  return withoutFields(headers, SERVER_FIELDS);
}

const SERVER_FIELDS = new FieldNames([
  'alt-svc', // RFC 7838 §3: browsers would go to the origin itself, for a day by default
  'expect-ct', // RFC 9163 §2.1: about the certificate that the server shows, which is the edge's
]);
