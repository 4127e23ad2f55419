/**
 * Stages 8 and 9 together: asks the origins for a key, applies a 304 to the stored response, and admits other
 * responses.
 */
import type { Readable } from 'node:stream';
import { completionHeaders } from '#http/combine.ts';
import { isStrong } from '#http/entity-tag.ts';
import { FieldNames } from '#http/field-names.ts';
import { firstValue, hasField, type RawHeaders, withField, withoutFields } from '#http/headers.ts';
import { parseContentRange } from '#http/range.ts';
import type { RequestHeaders } from '#http/request-fields.ts';
import { expectedBodyBytes } from '#http/store.ts';
import type { Stored } from '#http/stored.ts';
import { isOtherScheme } from '#http/uri.ts';
import { freshen, type Offered, unconditionalHeaders, validationHeaders, variantOf304 } from '#http/validate.ts';
import type { Cancellation } from '#lib/cancellation.ts';
import { after, type Eventual, recover } from '#lib/future.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { FetchResult } from '../origin/fetch.ts';
import { discardBody, type OriginResponse } from '../origin/origin-request.ts';
import { asReadable } from '../origin/own/body.ts';
import type { RequestBody } from '../origin/request-body.ts';
import { originHeaders } from '../origin-headers.ts';
import type { OriginFailure } from '../reasons.ts';
import type { Fill } from '../respond/edge-answer.ts';
import { absentUpTo } from '../stages/absence.ts';
import { isReadable } from '../store/readable-body.ts';
import type { CachedResponse, CacheStore } from '../store/store.ts';
import { type Admission, admitResponse } from './admit.ts';
import { openFill } from './fill.ts';
import { completeHead, prepend, type StoredPart } from './partial-response.ts';
import { optionsFor, withToldLifetime } from './told-freshness.ts';

export type Exchanged =
  /** The origin confirmed this stored response, here with its updated head. */
  | { readonly kind: 'validated'; readonly stored: CachedResponse }
  /** Any other response of an origin; its body has not been read. */
  | {
      readonly kind: 'response';
      readonly response: OriginResponse;
      /** `undefined` if the caller did not allow storing. */
      readonly admission: Admission | undefined;
      readonly fill: Fill | undefined;
    }
  | { readonly kind: 'failed'; readonly failure: OriginFailure }
  /** The client has left, or the request's body broke off. */
  | { readonly kind: 'aborted' };

export interface ExchangeOptions {
  /** Header fields of the client, or derived from them. */
  readonly headers: RequestHeaders;
  readonly body: RequestBody | undefined;
  /** Stored responses that a 304 may confirm; none if the conditions, if any, are the client's own. */
  readonly offered: Offered<CachedResponse>;
  /** Whether the response may enter the store at all. */
  readonly mayStore: boolean;
  /** Whether the cache takes no part, so that parents are not asked. */
  readonly isPastCache?: boolean;
  readonly signal: Cancellation;
  readonly onInterim: (status: number, headers: RawHeaders) => void;
}

const NOTHING_OFFERED: Offered<CachedResponse> = { selected: undefined, others: [] };

/** Passes the client's own request on, with its conditions and range. */
export function passOn(
  edge: EdgeContext,
  visit: Visit,
  question: Omit<ExchangeOptions, 'headers' | 'offered'>,
): Eventual<Exchanged> {
  return exchange(edge, visit, { ...question, headers: visit.request.headers, offered: NOTHING_OFFERED });
}

/**
 * Asks for the whole representation: conditionally if stored responses are offered, but never under the client's own
 * conditions, so that the answer can be stored. Edge rules, decision 7
 */
export function askForWhole(
  edge: EdgeContext,
  visit: Visit,
  stored: CachedResponse | undefined,
  others: readonly CachedResponse[],
  question: Pick<ExchangeOptions, 'signal' | 'onInterim'>,
): Eventual<Exchanged> {
  const headers = validationHeaders(visit.request.headers, stored, others);
  const offered = { selected: stored, others };
  const whole = { ...question, body: undefined, mayStore: true };
  return after(exchange(edge, visit, { ...whole, headers, offered }), (result) => {
    if (result.kind !== 'response' || result.response.status !== 304) return result;
    // The 304 refers to a response that is not stored: ask again without conditions.
    discardBody(result.response);
    return exchange(edge, visit, {
      ...whole,
      headers: unconditionalHeaders(visit.request.headers),
      offered: NOTHING_OFFERED,
    });
  });
}

/**
 * Asks for the bytes after a stored beginning and returns both as one whole response. If they do not belong together,
 * the whole is fetched. RFC 9111 §3.3, §3.4
 */
export async function askForRest(
  edge: EdgeContext,
  visit: Visit,
  prefix: StoredPart,
  question: Pick<ExchangeOptions, 'signal' | 'onInterim'>,
): Promise<Exchanged> {
  if (!(await isReadable(prefix.body, visit.holds))) return askForWhole(edge, visit, undefined, [], question);
  const headers = completionHeaders(visit.request.headers, prefix);
  const result = await exchange(edge, visit, {
    ...question,
    body: undefined,
    mayStore: true,
    headers,
    offered: NOTHING_OFFERED,
  });
  if (result.kind !== 'response') return result;
  const { status } = result.response;
  if (status !== 206 && status !== 416) return result;
  const whole = status === 206 ? joinRest(edge, visit, prefix, result) : undefined;
  if (whole !== undefined) return whole;
  result.fill?.writer.discard();
  discardBody(result.response);
  return askForWhole(edge, visit, undefined, [], question);
}

function joinRest(
  edge: EdgeContext,
  visit: Visit,
  prefix: StoredPart,
  { response, admission, fill }: Extract<Exchanged, { kind: 'response' }>,
): Exchanged | undefined {
  const stored = admission?.kind === 'store' ? completeHead(prefix, admission.stored) : undefined;
  if (stored === undefined) return undefined;
  fill?.writer.discard();
  const bodyBytes = prefix.range.complete;
  const headers = withField(withoutFields(response.headers, CONTENT_RANGE), 'Content-Length', String(bodyBytes));
  const body = prepend(prefix.body, asReadable(response.body));
  return {
    kind: 'response',
    response: { ...response, status: 200, reason: 'OK', headers, body },
    admission: { kind: 'store', stored },
    fill: openFill(edge, visit, { stored, bodyBytes, requestedAt: stored.requestAt }),
  };
}

/** Asks for the part that `headers` name. Nothing is admitted. A 304 is applied to `stored`, under the visit's key. */
export function askForPart(
  edge: EdgeContext,
  visit: Visit,
  headers: RawHeaders,
  stored: CachedResponse | undefined,
  question: Pick<ExchangeOptions, 'signal' | 'onInterim'>,
): Eventual<Exchanged> {
  const offered = { selected: stored, others: [] };
  return exchange(edge, visit, { ...question, headers, offered, body: undefined, mayStore: false });
}

export interface RestOf {
  readonly stored: Stored;
  /** Size of the whole body; `undefined` if unknown. */
  readonly bodyBytes: number | undefined;
  /** Offset of the first wanted byte. */
  readonly at: number;
}

/**
 * Fetches the rest of a body for a client that has its beginning. Returns `undefined` if the rest cannot be proven to
 * be of the same object.
 */
export async function fetchRest(
  edge: EdgeContext,
  visit: Visit,
  { stored, bodyBytes, at }: RestOf,
  signal: Cancellation,
): Promise<Readable | undefined> {
  if (bodyBytes === undefined || at === 0 || stored.etag === undefined || !isStrong(stored.etag)) return undefined;
  const prefix = { ...stored, range: { first: 0, last: at - 1, complete: bodyBytes } };
  const headers = completionHeaders(visit.request.headers, prefix);
  const plain = { body: undefined, offered: NOTHING_OFFERED, mayStore: false, onInterim: () => undefined };
  const result = await exchange(edge, visit, { ...plain, headers, signal });
  if (result.kind !== 'response') return undefined;
  const { response } = result;
  const range = parseContentRange(firstValue(response.headers, 'content-range') ?? '');
  const isRest = range?.first === at && range.last === bodyBytes - 1 && range.complete === bodyBytes;
  if (response.status === 206 && isRest && firstValue(response.headers, 'etag') === stored.etag)
    return asReadable(response.body);
  discardBody(response);
  return undefined;
}

const CONTENT_RANGE = new FieldNames(['content-range']);

function exchange(edge: EdgeContext, visit: Visit, question: ExchangeOptions): Eventual<Exchanged> {
  return after(fetchFor(edge, visit, question), (result) => {
    if (result.kind === 'failed') return { kind: 'failed', failure: result.failure };
    if (result.kind === 'aborted') return result;
    const { response } = result;
    const settle = response.status === 304 ? settleNotModified : settleResponse;
    return recover(
      () => settle(edge, visit, question, response),
      (error) => {
        discardBody(response); // otherwise its connection would wait for a reader forever
        throw error;
      },
    );
  });
}

async function settleNotModified(
  edge: EdgeContext,
  visit: Visit,
  question: ExchangeOptions,
  response: OriginResponse,
): Promise<Exchanged> {
  const stored = await applyNotModified(edge, visit, question.offered, response);
  if (stored !== undefined) {
    discardBody(response);
    return { kind: 'validated', stored };
  }
  if (isConditional(question.headers)) return settleResponse(edge, visit, question, response);
  // An unasked 304 would reach a client that has no stored response.
  discardBody(response);
  return { kind: 'failed', failure: 'originMalformed' };
}

function settleResponse(
  edge: EdgeContext,
  visit: Visit,
  { mayStore }: ExchangeOptions,
  response: OriginResponse,
): Exchanged {
  if (!mayStore) return { kind: 'response', response, admission: undefined, fill: undefined };
  return { kind: 'response', response, ...admit(edge, visit, response) };
}

function fetchFor(
  { origins, sites, clock }: EdgeContext,
  visit: Visit,
  question: ExchangeOptions,
): Eventual<FetchResult> {
  const { request, site, key, tierHops: hops = 0 } = visit;
  const { method, target, scheme, host, httpVersion, clientAddress, cdnId } = request;
  return origins.fetch({
    site,
    method,
    target,
    scheme,
    host,
    headers: originHeaders({ headers: question.headers, httpVersion, clientAddress, scheme, host, cdnId }),
    clientAddress,
    body: question.body,
    onInterim: question.onInterim,
    signal: question.signal,
    cacheable:
      question.isPastCache === true || !origins.usesParents(site)
        ? undefined
        : { key, absentUpTo: () => Math.max(visit.absentUpTo, absentUpTo(sites, visit, undefined, clock())), hops },
  });
}

/**
 * Returns `undefined` if the 304 confirms none of the offered responses, or if that one was purged or cannot be read.
 */
async function applyNotModified(
  { store, sites, clock }: EdgeContext,
  visit: Visit,
  offered: Offered<CachedResponse>,
  response: OriginResponse,
): Promise<CachedResponse | undefined> {
  const { request, key, options } = visit;
  const untagged = [offered.selected, ...offered.others].find((each) => each !== undefined && each.etag === undefined);
  const named = variantOf304(offered, response.headers) ?? untagged;
  if (named === undefined || !(await isReadable(named.body, visit.holds))) return undefined;
  const since = Math.max(visit.absentUpTo, absentUpTo(sites, visit, await store.find(key), clock()));
  if (named.requestAt <= since) return undefined; // purged while the origin was asked
  const governing = optionsFor(named.status, response.told, options);
  const outcome = freshen(named, request.facts, response.headers, response, governing, since);
  if (outcome.kind === 'mismatch') {
    store.remove(key, named);
    return undefined;
  }
  // The bytes keep their age: a purge compares it. docs/decisions/0081
  const stored = { ...withToldLifetime(outcome.stored, response.told), requestAt: named.requestAt };
  if (outcome.afterwards === 'replace') store.put(key, stored, options);
  if (outcome.afterwards === 'delete') store.remove(key, named);
  return stored;
}

export function admit(edge: EdgeContext, visit: Visit, response: OriginResponse) {
  const admission = judge(edge, visit, response, visit.absentUpTo);
  if (admission.kind === 'skip') return { admission, fill: undefined };
  const { stored } = admission;
  const bodyBytes = expectedBodyBytes(stored);
  return { admission, fill: openFill(edge, visit, { stored, bodyBytes, requestedAt: response.requestAt }) };
}

/** Judges a response regardless of its size, for objects that are stored in slices. */
export function judgeAnySize({ sites, clock }: EdgeContext, visit: Visit, response: OriginResponse): Admission {
  return judge({ sites, clock, store: ANY_SIZE }, visit, response, visit.absentUpTo);
}

const ANY_SIZE: Judges['store'] = { maxBodyBytes: Number.POSITIVE_INFINITY, refuses: () => undefined };

interface Judges extends Pick<EdgeContext, 'sites' | 'clock'> {
  readonly store: Pick<CacheStore, 'maxBodyBytes' | 'refuses'>;
}

/**
 * Decides whether the response may be stored. A response requested at or before `since`, or before the latest purge of
 * the object, is not.
 */
export function judge(edge: Judges, visit: Visit, response: OriginResponse, since: number): Admission {
  const { store, sites, clock } = edge;
  if (response.unfollowed !== undefined) return { kind: 'skip', reason: 'redirectTarget' };
  if (leadsToOtherScheme(visit, response)) return { kind: 'skip', reason: 'otherScheme' };
  const { told } = response;
  if (told?.mayStore === false) return { kind: 'skip', reason: 'parent' };
  const admission = admitResponse({
    request: visit.request.facts,
    response,
    exchange: response,
    options: optionsFor(response.status, told, visit.options),
    absentUpTo: Math.max(since, absentUpTo(sites, visit, undefined, clock())),
    store,
  });
  if (admission.kind === 'skip' || told === undefined) return admission;
  return { kind: 'store', stored: withToldLifetime(admission.stored, told) };
}

/**
 * A redirect from http to https, or back, is meant for viewers of one scheme. Where both schemes share one stored
 * object, viewers of the other would be redirected to the URL that they asked for. docs/decisions/0164
 */
function leadsToOtherScheme({ site, request }: Visit, { status, headers }: OriginResponse): boolean {
  if (site.origins.protocol === 'follow' || status < 300 || status > 399) return false;
  const location = firstValue(headers, 'location');
  return location !== undefined && isOtherScheme(location, request.uri);
}

function isConditional(headers: RequestHeaders): boolean {
  return hasField(headers, 'if-none-match') || hasField(headers, 'if-modified-since');
}
