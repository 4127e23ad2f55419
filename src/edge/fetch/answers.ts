/**
 * The ways to answer a request that passed the access checks: from the store, along with another request's fetch, past
 * the cache, by a miss or by a validation.
 */
import { randomBytes } from 'node:crypto';
import { alsoInvalidated, doesInvalidate } from '#http/invalidate.ts';
import { announcedBytes, expectedBodyBytes } from '#http/store.ts';
import { hasDotSegments } from '#http/target.ts';
import { isErrorStatus, isUsableOnError, updateFromHead } from '#http/validate.ts';
import { after, type Eventual, recover } from '#lib/future.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { IncomingBody } from '../incoming-body.ts';
import { discardBody, type OriginResponse } from '../origin/origin-request.ts';
import { type RequestBody, receiveBody } from '../origin/request-body.ts';
import { type Bypass, type CacheMark, failureStatus, type OriginFailure } from '../reasons.ts';
import type { EdgeAnswer, Fill } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { firstHandAnswer, notModifiedAnswer } from '../respond/first-hand.ts';
import type { FetchRest } from '../respond/follow-body.ts';
import { sharedAnswer, storedAnswer } from '../respond/stored.ts';
import { absentUpTo } from '../stages/absence.ts';
import { cacheKey } from '../stages/cache-key.ts';
import { isReadable } from '../store/readable-body.ts';
import { SharedBody } from '../store/shared-body.ts';
import type { CachedResponse } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import type { FlightRole } from './collapse.ts';
import { askForRest, askForWhole, type Exchanged, type ExchangeOptions, fetchRest, judge, passOn } from './exchange.ts';
import { openFill } from './fill.ts';
import type { StoredPart } from './partial-response.ts';
import { indexKey } from './slices/layout.ts';

/** Answers with a body that another request is fetching, as its bytes arrive. */
export function answerShared(edge: EdgeContext, visit: Visit, shared: SharedBody, now: number): EdgeAnswer {
  return sharedAnswer(
    visit.request.facts,
    { shared, fetchRest: restFetcher(edge, visit, shared) },
    { status: 'HIT' },
    now,
  );
}

/** Fetches the rest for a client that has fallen behind a body that turned out not to be stored. */
function restFetcher(edge: EdgeContext, visit: Visit, { stored, bodyBytes }: SharedBody): FetchRest {
  return (at, signal) => fetchRest(edge, visit, { stored, bodyBytes, at }, signal);
}

export function answerStored(
  { request }: Visit,
  stored: CachedResponse,
  status: 'HIT' | 'STALE' | 'REVALIDATED' | 'MISS',
  now: number,
): EdgeAnswer {
  // Only an answer with several ranges needs a boundary, which must not occur in the body.
  const boundary = request.facts.range?.includes(',') === true ? randomBytes(16).toString('hex') : '';
  return storedAnswer({ request: request.facts, stored, mark: { status }, now, boundary });
}

/**
 * Passes the request on as it is, with its body. The cache takes no part except that an unsafe method invalidates.
 * Returns `undefined` if the client has left.
 */
export function answerPastCache(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  reason: Bypass,
): Eventual<EdgeAnswer | undefined> {
  const { facts, headers } = visit.request;
  if ((announcedBytes(headers) ?? 0) > viewer.maxBodyBytes) return bodyTooLarge(edge);
  const incoming = facts.hasBody ? viewer.openBody() : undefined;
  return after(incoming && receive(viewer, edge, visit, incoming), (received) => {
    const body = received?.kind === 'body' ? received.body : undefined;
    const passed: Eventual<Exchanged> =
      received?.kind === 'broken'
        ? { kind: 'aborted' }
        : passOn(edge, visit, { ...questionOf(viewer), body, mayStore: false, isPastCache: true });
    return after(passed, (result) => {
      if (result.kind === 'aborted') return incoming?.isTooLarge === true ? bodyTooLarge(edge) : undefined;
      return answerPassed(edge, visit, reason, result, body);
    });
  });
}

function answerPassed(
  edge: EdgeContext,
  visit: Visit,
  reason: Bypass,
  result: Exclude<Exchanged, { kind: 'aborted' }>,
  body: RequestBody | undefined,
): Eventual<EdgeAnswer> {
  switch (result.kind) {
    case 'failed': {
      const answer = failureAnswer(edge, result.failure);
      // The rest of a body that is still arriving is not read. RFC 9112 §9.6
      return body !== undefined && body.lengthBytes === undefined ? { ...answer, closes: true } : answer;
    }
    case 'validated': // nothing was offered
      return failureAnswer(edge, 'originMalformed');
    case 'response': {
      body?.release();
      const { response } = result;
      const mark = { status: 'BYPASS', reason } as const;
      if (!doesInvalidate(visit.request.method, response.status)) return firstHandAnswer(response, mark, undefined);
      return after(applyUnsafe(edge, visit, response), (fill) => firstHandAnswer(response, mark, fill));
    }
  }
}

function receive(viewer: Viewer, edge: EdgeContext, { request, site }: Visit, incoming: IncomingBody) {
  const buffer = edge.buffers.open('request', request, site.id);
  void viewer.ended.then(() => buffer.close());
  return receiveBody(incoming, buffer);
}

type FetchedResponse = Extract<Exchanged, { kind: 'response' }>;

export interface FetchNeed {
  readonly role: FlightRole;
  /** Stored response to validate; `undefined` if no stored response matches. */
  readonly stored: CachedResponse | undefined;
  /** Other stored variants that a 304 may select. */
  readonly others: readonly CachedResponse[];
  /** Stored beginning of the object; `undefined` if none is stored. */
  readonly prefix: StoredPart | undefined;
}

/** Answers by a miss or a validation. Returns `undefined` if the client has left. */
export function answerByFetch(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  need: FetchNeed,
): Eventual<EdgeAnswer | undefined> {
  const { role, stored } = need;
  return withLanding(edge, visit, role, () => {
    return stored === undefined
      ? answerMiss(viewer, edge, visit, need)
      : answerValidated(viewer, edge, visit, { role, stored });
  });
}

/**
 * Runs the fetch and, if this request leads a flight, lands the flight once the body is stored or is known not to be.
 * Keys whose answer may not be stored are noted, so that their requests are not collapsed.
 */
export function withLanding(
  edge: Pick<EdgeContext, 'flights' | 'clock'>,
  visit: Pick<Visit, 'key'>,
  role: FlightRole,
  fetchAnswer: () => Eventual<EdgeAnswer | undefined>,
): Eventual<EdgeAnswer | undefined> {
  const land = role.kind === 'lead' ? role.land : undefined;
  const fetched = recover(fetchAnswer, (error) => {
    land?.();
    throw error;
  });
  return after(fetched, (answer) => {
    if (answer?.mark.status === 'MISS' && answer.mark.reason !== undefined) {
      edge.flights.markUnshared(visit.key, edge.clock());
    }
    if (land === undefined) return answer;
    if (answer !== undefined && hasFill(answer.body)) return withFillEnd(answer, answer.body, land);
    land();
    return answer;
  });
}

type FilledBody = Extract<EdgeAnswer['body'], { fill: unknown }> & { readonly fill: Fill };

function hasFill(body: EdgeAnswer['body']): body is FilledBody {
  return (body.kind === 'stream' || body.kind === 'fill') && body.fill !== undefined;
}

function withFillEnd(answer: EdgeAnswer, body: FilledBody, onEnd: () => void): EdgeAnswer {
  const { fill } = body;
  const endBoth = () => {
    fill.onEnd?.();
    onEnd();
  };
  return { ...answer, body: { ...body, fill: { ...fill, onEnd: endBoth } } };
}

function answerMiss(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  { role, others, prefix }: Omit<FetchNeed, 'stored'>,
): Eventual<EdgeAnswer | undefined> {
  const { facts } = visit.request;
  // A range is passed on unchanged: the answer, that part or the whole, may be stored. A HEAD brings no body to store.
  const isAsItIs = facts.range !== undefined || facts.method === 'HEAD';
  const ask = (): Eventual<Exchanged> => {
    const question = questionOf(viewer);
    if (isAsItIs) return passOn(edge, visit, { ...question, body: undefined, mayStore: true });
    if (prefix !== undefined) return askForRest(edge, visit, prefix, question);
    return askForWhole(edge, visit, undefined, others, question);
  };
  return after(ask(), (result) => {
    switch (result.kind) {
      case 'failed':
        return failureAnswer(edge, result.failure);
      case 'aborted':
        return undefined;
      case 'validated':
        return answerStored(visit, result.stored, 'REVALIDATED', edge.clock());
      case 'response':
        return answerResponse(edge, visit, share(edge, visit, role, result), isAsItIs);
    }
  });
}

/** Validates the stored response: it is confirmed, replaced, or served stale when the origin fails. */
async function answerValidated(
  viewer: Viewer,
  edge: EdgeContext,
  visit: Visit,
  { role, stored }: { readonly role: FlightRole; readonly stored: CachedResponse },
): Promise<EdgeAnswer | undefined> {
  const result = await askForWhole(edge, visit, stored, [], questionOf(viewer));
  const now = edge.clock();
  switch (result.kind) {
    case 'aborted':
      return undefined;
    case 'validated':
      return answerStored(visit, result.stored, 'REVALIDATED', now);
    case 'failed':
      if (await canStandIn(edge, visit, stored, 'unreachable')) return answerStored(visit, stored, 'STALE', now);
      // RFC 9111 §4.2.4, §5.2.2.2: a response that may not be served stale is answered with 504
      return errorAnswer(504, { status: 'ERROR', reason: result.failure }, now);
    case 'response': {
      const { response } = result;
      const error = errorOf(response);
      if (error !== undefined && (await canStandIn(edge, visit, stored, error))) {
        result.fill?.writer.discard();
        discardBody(response);
        return answerStored(visit, stored, 'STALE', now);
      }
      if (visit.request.method === 'HEAD') applyHead(edge, visit, stored, response);
      return { ...answerResponse(edge, visit, share(edge, visit, role, result), false), isReplacement: true };
    }
  }
}

/** Returns the kind of failure that a response stands for; `undefined` if it is not a failure. */
export function errorOf({ status, unfollowed, told }: OriginResponse): 'unreachable' | 'errorStatus' | undefined {
  if (unfollowed !== undefined || told?.as === 'error') return 'unreachable';
  return isErrorStatus(status) ? 'errorStatus' : undefined;
}

/** Lets waiting requests read the body along. A body that another request is already storing is not stored twice. */
export function share(edge: EdgeContext, visit: Visit, role: FlightRole, result: FetchedResponse): FetchedResponse {
  const { admission, fill } = result;
  if (fill === undefined || admission?.kind !== 'store' || admission.stored.range !== undefined) return result;
  if (role.kind === 'alone' && role.isRedundant) {
    fill.writer.discard();
    return { ...result, fill: undefined };
  }
  // Also without waiting requests if bodies are compressed: the coded form reads along. Edge rule 8
  if (role.kind !== 'lead' && !visit.site.pageCompress) return result;
  const shared = new SharedBody(admission.stored, fill.announcedBytes, edge.lag.open());
  if (role.kind === 'lead') role.publish(shared);
  const onEnd = () => {
    shared.break(); // no effect on a whole body
    fill.onEnd?.();
  };
  return { ...result, fill: { ...fill, shared, fetchRest: restFetcher(edge, visit, shared), onEnd } };
}

/** Whether the stored response may be served in place of a failed origin's answer. False if it was purged meanwhile. */
export async function canStandIn(
  { sites, clock }: EdgeContext,
  visit: Visit,
  stored: CachedResponse,
  failure: 'unreachable' | 'errorStatus',
): Promise<boolean> {
  const now = clock();
  if (!isUsableOnError(stored, failure, now, visit.options)) return false;
  return stored.requestAt > absentUpTo(sites, visit, undefined, now) && (await isReadable(stored.body, visit.holds));
}

export function answerResponse(
  { clock }: EdgeContext,
  { request }: Visit,
  { response, admission, fill }: FetchedResponse,
  hasClientConditions: boolean,
): EdgeAnswer {
  const mark: CacheMark =
    admission?.kind === 'skip' ? { status: 'MISS', reason: admission.reason } : { status: 'MISS' };
  const admitted = admission?.kind === 'store' ? admission.stored : undefined;
  if (admitted !== undefined && !hasClientConditions) {
    const notModified = notModifiedAnswer(request.facts, admitted, mark, clock());
    // The body is stored all the same, though the client needs none of it.
    if (notModified !== undefined)
      return { ...notModified, body: { kind: 'fill', stream: response.body, fill }, admitted };
  }
  return firstHandAnswer(response, mark, fill, admitted);
}

/**
 * Invalidates after an unsafe method; returns the fill of a POST's answer that may be stored in place of the dropped
 * response. RFC 9111 §4.4, RFC 9110 §9.3.3
 */
async function applyUnsafe(edge: EdgeContext, visit: Visit, response: OriginResponse): Promise<Fill | undefined> {
  const { store, sites, clock } = edge;
  const { site, key, request } = visit;
  const before = absentUpTo(sites, visit, await store.find(key), clock());
  const now = clock();
  const { scheme, host } = request;
  const invalidate = (dropped: string, at: number): void => {
    store.invalidate(dropped, at);
    // The instant of an invalidation is not remembered for as long as slices are stored.
    if (site.rangeBackSource) store.invalidate(indexKey(dropped), at);
  };
  for (const target of alsoInvalidated(request.uri, response.headers)) {
    const other = cacheKey(site, { scheme, host, ...target });
    if (other !== key) invalidate(other, now);
  }
  const canBeStored = request.method === 'POST' && !hasDotSegments(request.target);
  const admission = canBeStored ? judge(edge, visit, response, before) : undefined;
  if (admission?.kind !== 'store') {
    invalidate(key, now);
    return undefined;
  }
  // The answer is stored as requested after the invalidation, which keeps out responses that were requested before it.
  // A purge in the meantime still counts from the request. docs/decisions/0082
  invalidate(key, now - 1);
  const stored = { ...admission.stored, requestAt: now };
  return openFill(edge, visit, {
    stored,
    bodyBytes: expectedBodyBytes(stored),
    requestedAt: response.requestAt,
  });
}

/** Updates or removes the stored response after a HEAD. RFC 9111 §4.3.5 */
function applyHead({ store }: EdgeContext, visit: Visit, stored: CachedResponse, response: OriginResponse): void {
  const { request, key, options } = visit;
  const outcome = updateFromHead(stored, request.facts, response, response, options, stored.body.sizeBytes);
  // The bytes keep their age: a purge compares it. docs/decisions/0081
  if (outcome.kind === 'updated') store.put(key, { ...outcome.stored, requestAt: stored.requestAt }, options);
  if (outcome.kind === 'delete') store.remove(key, stored);
}

export function questionOf(viewer: Viewer): Pick<ExchangeOptions, 'signal' | 'onInterim'> {
  return { signal: viewer.signal, onInterim: (status, headers) => viewer.sendInterim(status, headers) };
}

export function failureAnswer({ clock }: EdgeContext, failure: OriginFailure): EdgeAnswer {
  return errorAnswer(failureStatus(failure), { status: 'ERROR', reason: failure }, clock());
}

function bodyTooLarge({ clock }: EdgeContext): EdgeAnswer {
  return errorAnswer(413, { status: 'ERROR', reason: 'bodyTooLarge' }, clock(), true);
}
