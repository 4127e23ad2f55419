/** The four ways a request that may be served gets its answer: from the store, past it, by a miss, by a validation. */
import { randomBytes } from 'node:crypto';
import { alsoInvalidated, doesInvalidate } from '#http/invalidate.ts';
import { isErrorStatus, isUsableOnError, updateFromHead } from '#http/validate.ts';
import { announcedBytes } from './admit.ts';
import { cacheKey } from './cache-key.ts';
import { isAwaited, type Place } from './collapse.ts';
import type { EdgeContext, Visit } from './context.ts';
import { askForWhole, discardBody, type Exchanged, passOn, type Question } from './exchange.ts';
import type { OriginResponse } from './origin/attempt.ts';
import { type Bypass, type CacheMark, failureStatus, type OriginFailure } from './reasons.ts';
import type { EdgeAnswer, Fill } from './respond/answer.ts';
import { errorAnswer } from './respond/error-page.ts';
import { firstHandAnswer, notModifiedAnswer } from './respond/first-hand.ts';
import { storedAnswer } from './respond/stored.ts';
import type { CachedResponse } from './store/store.ts';
import type { Viewer } from './viewer.ts';

export function answerStored(
  { request }: Visit,
  stored: CachedResponse,
  status: 'HIT' | 'STALE' | 'REVALIDATED',
  now: number,
): EdgeAnswer {
  // Only several ranges need one, and then it must not occur in the body.
  const boundary = request.facts.range?.includes(',') === true ? randomBytes(16).toString('hex') : '';
  return storedAnswer({ request: request.facts, stored, mark: { status }, now, boundary });
}

/** What the cache has no part in, but for invalidation: the request goes on as it is, with its body. */
export async function answerPastCache(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  reason: Bypass,
): Promise<EdgeAnswer | undefined> {
  const { facts, headers } = visit.request;
  if ((announcedBytes(headers) ?? 0) > viewer.maxBodyBytes) return bodyTooLarge(edge);
  const body = facts.hasBody ? viewer.openBody() : undefined;
  const result = await passOn(edge, visit, { ...questionOf(viewer), body, mayStore: false });
  switch (result.kind) {
    case 'failed':
      return failureAnswer(edge, result.failure);
    case 'aborted':
      return body?.isTooLarge === true ? bodyTooLarge(edge) : undefined;
    case 'validated': // nothing was offered
      return failureAnswer(edge, 'originMalformed');
    case 'response':
      invalidate(edge, visit, result.response);
      return firstHandAnswer(result.response, { status: 'BYPASS', reason }, undefined);
  }
}

export interface FetchNeed {
  readonly place: Place;
  /** What must be confirmed; `undefined`: nothing stored matches. */
  readonly stored: CachedResponse | undefined;
  /** Variants that the origin may point at. */
  readonly others: readonly CachedResponse[];
}

/** A miss or a validation; when it leads, the others may look again as soon as its body is stored, or will not be. */
export async function answerByFetch(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  { place, stored, others }: FetchNeed,
): Promise<EdgeAnswer | undefined> {
  const land = place.kind === 'lead' ? place.land : () => undefined;
  let answer: EdgeAnswer | undefined;
  try {
    answer =
      stored === undefined
        ? await answerMiss(viewer, edge, visit, others)
        : await answerValidated(viewer, edge, visit, stored);
  } finally {
    if (answer === undefined || !isAwaited(fillOf(answer))) land();
  }
  if (answer?.mark.status === 'MISS' && answer.mark.reason !== undefined) {
    edge.flights.markUnshared(visit.key, edge.clock());
  }
  return answer === undefined ? undefined : withFillEnd(answer, land);
}

function fillOf({ body }: EdgeAnswer): Fill | undefined {
  return body.kind === 'stream' || body.kind === 'fill' ? body.fill : undefined;
}

function withFillEnd(answer: EdgeAnswer, onEnd: () => void): EdgeAnswer {
  const { body } = answer;
  if ((body.kind !== 'stream' && body.kind !== 'fill') || body.fill === undefined) return answer;
  return { ...answer, body: { ...body, fill: { ...body.fill, onEnd } } };
}

/** Nothing stored serves; `others` are variants that the origin may point at. */
async function answerMiss(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  others: readonly CachedResponse[],
): Promise<EdgeAnswer | undefined> {
  const { facts } = visit.request;
  // A range goes on unchanged: its answer is that part, or the whole if the origin likes. A HEAD brings nothing to store.
  const isAsItIs = facts.range !== undefined || facts.method === 'HEAD';
  const result = isAsItIs
    ? await passOn(edge, visit, { ...questionOf(viewer), body: undefined, mayStore: true })
    : await askForWhole(edge, visit, undefined, others, questionOf(viewer));
  switch (result.kind) {
    case 'failed':
      return failureAnswer(edge, result.failure);
    case 'aborted':
      return undefined;
    case 'validated':
      return answerStored(visit, result.stored, 'REVALIDATED', edge.clock());
    case 'response':
      return answerResponse(edge, visit, result, isAsItIs);
  }
}

/** The stored response must be confirmed, or replaced, or may stand in when the origin fails. */
async function answerValidated(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  stored: CachedResponse,
): Promise<EdgeAnswer | undefined> {
  const result = await askForWhole(edge, visit, stored, [], questionOf(viewer));
  const now = edge.clock();
  switch (result.kind) {
    case 'aborted':
      return undefined;
    case 'validated':
      return answerStored(visit, result.stored, 'REVALIDATED', now);
    case 'failed':
      if (isUsableOnError(stored, 'unreachable', now, visit.options)) return answerStored(visit, stored, 'STALE', now);
      // RFC 9111 §4.2.4, §5.2.2.2: what may not be served stale is answered 504
      return errorAnswer(504, { status: 'ERROR', reason: result.failure }, now);
    case 'response': {
      const { response } = result;
      if (isErrorStatus(response.status) && isUsableOnError(stored, 'errorStatus', now, visit.options)) {
        result.fill?.writer.discard();
        discardBody(response);
        return answerStored(visit, stored, 'STALE', now);
      }
      if (visit.request.method === 'HEAD') applyHead(edge, visit, stored, response);
      return { ...answerResponse(edge, visit, result, false), isReplacement: true };
    }
  }
}

function answerResponse(
  { clock }: EdgeContext,
  { request }: Visit,
  { response, admission, fill }: Extract<Exchanged, { kind: 'response' }>,
  hasClientConditions: boolean,
): EdgeAnswer {
  const mark: CacheMark =
    admission?.kind === 'skip' ? { status: 'MISS', reason: admission.reason } : { status: 'MISS' };
  if (admission?.kind === 'store' && !hasClientConditions) {
    const notModified = notModifiedAnswer(request.facts, admission.stored, mark, clock());
    // The body goes into the store all the same; the client needs none of it.
    if (notModified !== undefined) return { ...notModified, body: { kind: 'fill', stream: response.body, fill } };
  }
  return firstHandAnswer(response, mark, fill);
}

/** RFC 9111 §4.4 */
function invalidate({ store, clock }: EdgeContext, { site, key, request }: Visit, response: OriginResponse): void {
  if (!doesInvalidate(request.method, response.status)) return;
  const now = clock();
  const { scheme, host } = request;
  const others = alsoInvalidated(request.uri, response.headers);
  for (const each of [key, ...others.map((target) => cacheKey(site, { scheme, host, ...target }))]) {
    store.invalidate(each, now);
  }
}

/** RFC 9111 §4.3.5 */
function applyHead({ store }: EdgeContext, visit: Visit, stored: CachedResponse, response: OriginResponse): void {
  const { request, key, options } = visit;
  const outcome = updateFromHead(stored, request.facts, response, response, options, stored.body.sizeBytes);
  if (outcome.kind === 'updated') store.put(key, outcome.stored, options);
  if (outcome.kind === 'delete') store.remove(key, stored);
}

function questionOf(viewer: Viewer): Pick<Question, 'signal' | 'onInterim'> {
  return { signal: viewer.signal, onInterim: (status, headers) => viewer.sendInterim(status, headers) };
}

function failureAnswer({ clock }: EdgeContext, failure: OriginFailure): EdgeAnswer {
  return errorAnswer(failureStatus(failure), { status: 'ERROR', reason: failure }, clock());
}

function bodyTooLarge({ clock }: EdgeContext): EdgeAnswer {
  return errorAnswer(413, { status: 'ERROR', reason: 'bodyTooLarge' }, clock(), true);
}
