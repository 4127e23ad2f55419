/** What a browser sends with a call besides its body: the cookie of its session, and where the call comes from. Pure. docs/decisions/0663 */
import { SESSION_COOKIE } from '#contract/people/session-fields.ts';

/** Fields of a call, as they were sent. */
export interface BrowserFields {
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site` */
  readonly fetchSite: string | undefined;
  readonly host: string | undefined;
  readonly contentType: string | undefined;
  readonly userAgent: string | undefined;
}

/** The secret in the cookie; `undefined` if there is no such cookie. */
export function sessionSecretOf({ cookie }: Pick<BrowserFields, 'cookie'>): string | undefined {
  return cookie === undefined ? undefined : SESSION.exec(cookie)?.[1];
}

const SESSION = new RegExp(`(?:^|;)[ \\t]*${SESSION_COOKIE}=([\\w-]{1,100})[ \\t]*(?:;|$)`);

/**
 * Where a call comes from: a page of the console (`own`), another site (`other`), or the client does not say, as no
 * program does.
 */
export function callSite(fields: BrowserFields, consoleOrigin: string): 'own' | 'other' | 'unsaid' {
  const { origin, fetchSite, contentType } = fields;
  if (origin !== undefined && !isOwnOrigin(origin, fields, consoleOrigin)) return 'other';
  if (fetchSite !== undefined && fetchSite !== 'same-origin') return 'other';
  // Of some paths a body without a type is JSON; a browser sends one to any site without asking.
  return fetchSite === undefined || contentType === undefined ? 'unsaid' : 'own';
}

/** A proxy may change `Host`, and TLS may end there: hosts are compared, by the default port of the origin's scheme. */
function isOwnOrigin(origin: string, { host }: BrowserFields, consoleOrigin: string): boolean {
  if (origin === consoleOrigin) return true;
  const from = URL.parse(origin);
  if (from === null || host === undefined || !/^https?:$/.test(from.protocol)) return false;
  return URL.parse(`${from.protocol}//${host}`)?.origin === origin;
}

/** `Set-Cookie` of a session. Strict: no link from elsewhere brings it along. */
export function sessionCookie(secret: string, maxAgeSeconds: number): string {
  return `${SESSION_COOKIE}=${secret}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=${maxAgeSeconds}`;
}

/** `Set-Cookie` that removes the cookie. */
export const NO_SESSION_COOKIE = sessionCookie('', 0);
