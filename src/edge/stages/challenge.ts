/** Answers an authority's HTTP-01 challenge for a certificate. Pure except for the look-up. RFC 8555 §8.3 */
import { formatDate } from '#http/dates.ts';
import { type ChallengeSource, findChallenge } from '#sites/challenge.ts';
import type { EdgeRequest } from '../request.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';

/**
 * Returns `undefined` if the request is not a challenge and is served normally. Challenges are answered over plain HTTP
 * only. docs/decisions/0192
 */
export function answerChallenge(
  source: ChallengeSource,
  { method, scheme, host, target }: Pick<EdgeRequest, 'method' | 'scheme' | 'host' | 'target'>,
  now: number,
): EdgeAnswer | undefined {
  if (scheme !== 'http' || (method !== 'GET' && method !== 'HEAD')) return undefined;
  const found = findChallenge(source, host, target);
  if (found === undefined) return undefined;
  const text = Buffer.from(found);
  const type = ['Content-Type', 'application/octet-stream', 'Content-Length', String(text.length)];
  const headers = [...type, 'Cache-Control', 'no-store', 'Date', formatDate(now)];
  const body = { kind: 'pieces', pieces: [text] } as const;
  return { status: 200, reason: 'OK', headers, body, mark: { status: 'OWN', reason: 'acmeChallenge' } };
}
