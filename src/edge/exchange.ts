/** Stages 8 and 9 together: asks the origins for a key, applies a 304 to what is stored, and admits what else comes. */
import { hasField, type RawHeaders } from '#http/headers.ts';
import { freshen, unconditionalHeaders, validationHeaders, variantOf304 } from '#http/validate.ts';
import { type Admission, admitResponse, announcedBytes } from './admit.ts';
import type { EdgeContext, Visit } from './context.ts';
import type { OriginResponse } from './origin/attempt.ts';
import type { FetchResult } from './origin/fetch.ts';
import type { RequestBody } from './origin/request-body.ts';
import { originHeaders } from './origin/request-headers.ts';
import type { OriginFailure } from './reasons.ts';
import type { Fill } from './respond/answer.ts';
import type { CachedResponse } from './store/store.ts';

export type Exchanged =
  /** The origin confirmed what is stored; this is it with its new head. */
  | { readonly kind: 'validated'; readonly stored: CachedResponse }
  /** Anything else that an origin answered; its body is not read yet. */
  | {
      readonly kind: 'response';
      readonly response: OriginResponse;
      /** `undefined`: it was not to be stored anyway. */
      readonly admission: Admission | undefined;
      readonly fill: Fill | undefined;
    }
  | { readonly kind: 'failed'; readonly failure: OriginFailure }
  /** The client left, or its body broke off. */
  | { readonly kind: 'aborted' };

export interface Question {
  /** As the client sent them, or what was made of them. */
  readonly headers: RawHeaders;
  readonly body: RequestBody | undefined;
  /** What a 304 may speak of; empty when the conditions, if any, are the client's own. */
  readonly offered: readonly CachedResponse[];
  /** Whether the response may enter the store at all. */
  readonly mayStore: boolean;
  readonly signal: AbortSignal;
  readonly onInterim: (status: number, headers: RawHeaders) => void;
}

/** Passes the client's own request on, conditions, range and all. */
export function passOn(
  edge: EdgeContext,
  visit: Visit,
  question: Omit<Question, 'headers' | 'offered'>,
): Promise<Exchanged> {
  return exchange(edge, visit, { ...question, headers: visit.request.headers, offered: [] });
}

/**
 * Asks for the whole representation: conditionally where something is offered, never under the client's own conditions,
 * so that the answer can be stored. Edge rules, decision 7
 */
export async function askForWhole(
  edge: EdgeContext,
  visit: Visit,
  stored: CachedResponse | undefined,
  others: readonly CachedResponse[],
  question: Pick<Question, 'signal' | 'onInterim'>,
): Promise<Exchanged> {
  const headers = validationHeaders(visit.request.headers, stored, others);
  const offered = stored === undefined ? others : [stored, ...others];
  const whole = { ...question, body: undefined, mayStore: true };
  const result = await exchange(edge, visit, { ...whole, headers, offered });
  if (result.kind !== 'response' || result.response.status !== 304) return result;
  // It speaks of something we do not have: once more, without conditions.
  discardBody(result.response);
  return exchange(edge, visit, { ...whole, headers: unconditionalHeaders(visit.request.headers), offered: [] });
}

async function exchange(edge: EdgeContext, visit: Visit, question: Question): Promise<Exchanged> {
  const result = await fetchFor(edge, visit, question);
  if (result.kind === 'failed') return { kind: 'failed', failure: result.failure };
  if (result.kind === 'aborted') return result;
  const { response } = result;
  if (response.status === 304) {
    const stored = applyNotModified(edge, visit, question.offered, response);
    if (stored !== undefined) {
      discardBody(response);
      return { kind: 'validated', stored };
    }
    if (!isConditional(question.headers)) {
      // A 304 that nobody asked for would reach a client that has nothing.
      discardBody(response);
      return { kind: 'failed', failure: 'originMalformed' };
    }
  }
  if (!question.mayStore) return { kind: 'response', response, admission: undefined, fill: undefined };
  return { kind: 'response', response, ...admit(edge, visit, response) };
}

function fetchFor(edge: EdgeContext, { request, site }: Visit, question: Question): Promise<FetchResult> {
  const { method, target, scheme, host, httpVersion, clientAddress } = request;
  return edge.origins.fetch({
    site,
    method,
    target,
    scheme,
    host,
    headers: originHeaders({ headers: question.headers, httpVersion, clientAddress, scheme, host }),
    body: question.body,
    onInterim: question.onInterim,
    signal: question.signal,
  });
}

/** `undefined`: the 304 names nothing that was offered. */
function applyNotModified(
  { store }: EdgeContext,
  { request, key, options, invalidatedAt }: Visit,
  offered: readonly CachedResponse[],
  response: OriginResponse,
): CachedResponse | undefined {
  const named = variantOf304(offered, response.headers) ?? offered.find(({ etag }) => etag === undefined);
  if (named === undefined) return undefined;
  const outcome = freshen(named, request.facts, response.headers, response, options, invalidatedAt);
  if (outcome.kind === 'mismatch') {
    store.remove(key, named);
    return undefined;
  }
  if (outcome.afterwards === 'replace') store.put(key, outcome.stored, options);
  if (outcome.afterwards === 'delete') store.remove(key, named);
  return outcome.stored;
}

function admit({ store }: EdgeContext, { request, key, options, invalidatedAt }: Visit, response: OriginResponse) {
  const admission = admitResponse({
    request: request.facts,
    response,
    exchange: response,
    options,
    invalidatedAt,
    maxBodyBytes: store.maxBodyBytes,
  });
  if (admission.kind === 'skip') return { admission, fill: undefined };
  const fill: Fill = {
    writer: store.openWriter(),
    announcedBytes: announcedBytes(response.headers),
    onWhole: (body) => store.put(key, { ...admission.stored, body }, options),
  };
  return { admission, fill };
}

function isConditional(headers: RawHeaders): boolean {
  return hasField(headers, 'if-none-match') || hasField(headers, 'if-modified-since');
}

/** For a response whose body nobody wants. */
export function discardBody({ body }: OriginResponse): void {
  body.on('error', () => undefined); // nobody waits for it
  body.destroy();
}
