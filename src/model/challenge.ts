/** What an authority asks for to see that a name is ours: a text under an address of that name, answered by edges. RFC 8555 §8.3 */

/** Kind of a feed resource whose key is `challengeKey` and whose body is a `ChallengeBody`. */
export const CHALLENGE_KIND = 'challenge';

export interface ChallengeBody {
  readonly keyAuthorization: string;
}

const PATH = '/.well-known/acme-challenge/';
/** Authorities use 43 characters or fewer; at least 22 make it unguessable. */
const TOKEN = /^[\w-]{22,128}$/;

/** `host`: lower-case ASCII. */
export function challengeKey(host: string, token: string): string {
  return `${host}/${token}`;
}

/** `undefined`: the path and query are not those of a challenge. */
export function challengeToken(target: string): string | undefined {
  if (!target.startsWith(PATH)) return undefined;
  const token = target.slice(PATH.length);
  return isChallengeToken(token) ? token : undefined;
}

export function isChallengeToken(text: string): boolean {
  return TOKEN.test(text);
}
