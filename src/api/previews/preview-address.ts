/** Signed addresses at which a session plays a stream. The signature says which stream; the session's cookie must be there too. docs/decisions/0702 */
import type { Keyring } from '#db/secrets/keyring.ts';
import {
  checkSigned,
  parseSignature,
  type SignatureState,
  type SignedValues,
  signedQuery,
  type UrlSignature,
} from '#logs/signed-query.ts';
import { isAppName, isStreamName } from '#sites/live.ts';

export interface PreviewAddress {
  readonly sessionId: number;
  readonly domainId: number;
  /** Name of the domain. */
  readonly domain: string;
  readonly app: string;
  readonly stream: string;
}

export const PREVIEW_PATH = '/previews';
const PURPOSE = 'stream previews';

/** Returns path and query. `expires`: Unix seconds. */
export function signedPreviewPath(ring: Keyring, preview: PreviewAddress, expires: number): string {
  return `${PREVIEW_PATH}/${valuesOf(preview).join('/')}.flv?${signedQuery(ring, PURPOSE, valuesOf(preview), expires)}`;
}

/** Returns `undefined` if it is not such an address. */
export function parsePreviewPath(path: string, query: URLSearchParams): (PreviewAddress & UrlSignature) | undefined {
  const [, session = '', id = '', domain = '', app = '', stream = ''] =
    /^\/previews\/(\d{1,10})\/(\d{1,10})\/([^/]{1,255})\/([^/]+)\/([^/]+)\.flv$/.exec(path) ?? [];
  const signature = parseSignature(query);
  if (signature === undefined || !isAppName(app) || !isStreamName(stream)) return undefined;
  return { sessionId: Number(session), domainId: Number(id), domain, app, stream, ...signature };
}

export function checkPreviewSignature(
  ring: Keyring,
  preview: PreviewAddress & UrlSignature,
  now: number,
): SignatureState {
  return checkSigned(ring, PURPOSE, valuesOf(preview), preview, now);
}

/** Names of domains, apps and streams need no encoding in a path. */
function valuesOf({ sessionId, domainId, domain, app, stream }: PreviewAddress): SignedValues {
  return [sessionId, domainId, domain, app, stream];
}
