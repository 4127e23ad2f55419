/** Orders and authorizations as an authority describes them. RFC 8555 §7.1.3, §7.1.4, §8 */
import { parseObject } from '#lib/parse-object.ts';
import type { RenewalWindow } from '#model/certificate-order.ts';
import { isChallengeToken } from '#model/challenge.ts';
import { readProblem, readRetryAfter, Unreachable } from './acme-problem.ts';
import type { HttpAnswer } from './https.ts';

export interface Order {
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  /** URL of the authorization; an order for one name has one. */
  readonly authorizationUrl: string;
  readonly finalizeUrl: string;
  /** Present if the order is valid. */
  readonly certificateUrl: string | undefined;
  /** Why the order is invalid; may be empty. */
  readonly problem: string;
  readonly retryAfterMs: number | undefined;
}

export interface Authorization {
  /** `ended`: any status other than `pending` and `valid`. */
  readonly status: 'pending' | 'valid' | 'ended';
  /** The HTTP-01 challenge; absent if it is not offered. */
  readonly challenge: Challenge | undefined;
  readonly retryAfterMs: number | undefined;
}

export interface Challenge {
  readonly url: string;
  readonly token: string;
  readonly status: 'pending' | 'processing' | 'ended';
  /** Why the validation failed; may be empty. */
  readonly problem: string;
}

/** RFC 9773 §4.2 */
export interface RenewalInfo {
  /** Window in which the certificate is to be renewed. */
  readonly window: RenewalWindow;
  /** When to ask again. */
  readonly retryAfterMs: number | undefined;
}

const ORDER_STATUSES = ['pending', 'ready', 'processing', 'valid', 'invalid'] as const;

/**
 * The readers throw `Unreachable` for an invalid resource: an authority that does not speak the protocol now may do so
 * later. `now`: when the answer arrived.
 */
export function readOrder(answer: HttpAnswer, now: number): Order {
  const body = parseMembers(answer.body);
  const status = ORDER_STATUSES.find((known) => known === body['status']);
  const [authorizationUrl] = Array.isArray(body['authorizations']) ? body['authorizations'] : [];
  if (status === undefined) throw notAsExpected('status');
  return {
    status,
    authorizationUrl: readUrl({ authorizations: authorizationUrl }, 'authorizations'),
    finalizeUrl: readUrl(body, 'finalize'),
    certificateUrl: body['certificate'] === undefined ? undefined : readUrl(body, 'certificate'),
    problem: readProblem(body['error']).detail,
    retryAfterMs: readRetryAfter(answer, now),
  };
}

export function readAuthorization(answer: HttpAnswer, now: number): Authorization {
  const body = parseMembers(answer.body);
  const { status, challenges } = body;
  const offered: readonly unknown[] = Array.isArray(challenges) ? challenges : [];
  const found = offered.map((one) => Object(one)).find(({ type }) => type === 'http-01');
  return {
    status: status === 'pending' || status === 'valid' ? status : 'ended',
    challenge: found === undefined ? undefined : readChallenge(found),
    retryAfterMs: readRetryAfter(answer, now),
  };
}

/** Reads a renewal window. One that ends before it begins is invalid, too. */
export function readRenewalInfo(answer: HttpAnswer, now: number): RenewalInfo {
  const { start, end } = Object(parseMembers(answer.body)['suggestedWindow']);
  const [from, to] = [start, end].map((text: unknown) => (typeof text === 'string' ? Date.parse(text) : Number.NaN));
  if (from === undefined || to === undefined || !(from < to)) throw notAsExpected('suggestedWindow', 'RFC 9773');
  return { window: { from, to }, retryAfterMs: readRetryAfter(answer, now) };
}

function readChallenge(body: Members): Challenge {
  const { status, token } = body;
  if (typeof token !== 'string' || !isChallengeToken(token)) throw notAsExpected('token');
  return {
    url: readUrl(body, 'url'),
    token,
    status: status === 'pending' || status === 'processing' ? status : 'ended',
    problem: readProblem(body['error']).detail,
  };
}

type Members = Readonly<Record<string, unknown>>;

export function parseMembers(text: string): Members {
  const members = parseObject(text);
  if (members === undefined) throw notAsExpected('an object');
  return members;
}

export function readUrl(body: Members, name: string): string {
  const url = findUrl(body, name);
  if (url === undefined) throw notAsExpected(name);
  return url;
}

/** Returns `undefined` if the member is absent or not a URL. */
export function findUrl(body: Members, name: string): string | undefined {
  const url = body[name];
  return typeof url === 'string' && url.startsWith('https://') && URL.canParse(url) ? url : undefined;
}

function notAsExpected(what: string, rfc = 'RFC 8555'): Unreachable {
  return new Unreachable(`its response is not what ${rfc} says: ${what}`);
}
