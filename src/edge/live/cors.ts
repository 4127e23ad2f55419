/** Fields that let players in pages of other origins read the answers. */
import { FieldNames } from '#http/field-names.ts';
import { type RawHeaders, withoutFields } from '#http/headers.ts';
import { errorAnswer } from '../respond/error-page.ts';

export function corsError(
  status: number,
  reason: 'noStream' | 'liveTooEarly' | 'liveDirectives' | 'liveUnavailable' | 'liveShare' | 'liveWaits' | 'livePull',
  now: number,
) {
  const answer = errorAnswer(status, { status: 'ERROR', reason }, now);
  const headers = status === 503 ? [...answer.headers, 'Retry-After', RETRY_SECONDS] : answer.headers;
  return { ...answer, headers: withCors(headers), isLive: true } as const;
}

/** `Retry-After`: a live process that was killed is back within a few seconds. */
const RETRY_SECONDS = '2';

export function withCors(headers: RawHeaders): RawHeaders {
  return [...withoutFields(headers, CORS), ...CORS_HEADERS];
}

export const CORS_HEADERS: RawHeaders = ['Access-Control-Allow-Origin', '*'];
const CORS = new FieldNames(['access-control-allow-origin']);
