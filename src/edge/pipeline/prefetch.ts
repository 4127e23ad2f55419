/**
 * Prefetches an object through the same stages as a request, and reports that it is stored or why not.
 * docs/decisions/0084
 */
import type { Eventual } from '#lib/future.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { PrefetchOutcome, PrefetchRequest } from '#sites/prefetch.ts';
import type { EdgeContext, Visit } from '../context.ts';
import { waitForLanding } from '../fetch/collapse.ts';
import { askForRest, askForWhole, type Exchanged } from '../fetch/exchange.ts';
import { isPart } from '../fetch/partial-response.ts';
import { isSliceable } from '../fetch/slices/answer-sliced.ts';
import type { Discovered } from '../fetch/slices/discover.ts';
import { bringSlices, discoverSliced } from '../fetch/slices/prefetch.ts';
import { discardBody } from '../origin/origin-request.ts';
import { SERVICE_NAME } from '../origin-headers.ts';
import type { Bypass, Denial, EdgeFault, OriginFailure, PrefetchFailure, RequestFault, Skip } from '../reasons.ts';
import { parseRequest } from '../request.ts';
import type { Fill } from '../respond/edge-answer.ts';
import { streamToStore } from '../respond/stream.ts';
import { checkState } from '../stages/access.ts';
import { cacheKey } from '../stages/cache-key.ts';
import { askedUncoded } from '../stages/encodings.ts';
import { canReadAlong, type LookedUp, lookUp } from '../stages/look-up.ts';
import { planRequest } from '../stages/plan-request.ts';
import { Holds } from '../store/holds.ts';
import type { SharedBody } from '../store/shared-body.ts';

/** Prefetches one object. Never rejects. */
export type Prefetch = (request: PrefetchRequest) => Promise<PrefetchOutcome>;

/**
 * Concurrent prefetches of one worker: enough for all that a machine has in flight (feed/client/prefetches.ts), even if one
 * worker gets them all.
 */
const MAX_PREFETCHES = 16;
const TIMEOUT_MS = 10 * 60_000;
const FIRST_ERROR_STATUS = 400;

type Reason = RequestFault | EdgeFault | Denial | Bypass | Skip | OriginFailure | PrefetchFailure;

export function createPrefetch(edge: EdgeContext): Prefetch {
  let free = MAX_PREFETCHES;
  const waiting: (() => void)[] = [];
  return async (request) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      const reason = await prefetch(edge, request, AbortSignal.timeout(TIMEOUT_MS));
      return reason === undefined ? { kind: 'stored' } : { kind: 'failed', reason };
    } catch (error) {
      edge.log.error({ err: error, host: request.host, target: request.target }, 'prefetch failed');
      return { kind: 'failed', reason: 'internal' satisfies Reason };
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** Returns why the object is not stored; `undefined` if it is. */
async function prefetch(edge: EdgeContext, asked: PrefetchRequest, signal: AbortSignal): Promise<Reason | undefined> {
  const request = parseRequest(receivedFrom(asked), edge.cdn.id);
  if (request.kind === 'invalid') return request.reason;
  if (request.kind === 'server') return 'target';
  const site = edge.sites.find(request.host);
  if (site === undefined) return 'unknownHost';
  const access = checkState(site);
  if (access.kind === 'deny') return access.reason;
  const plan = planRequest(site, request);
  if (plan.kind === 'bypass') return plan.reason;
  const key = cacheKey(site, request);
  using holds = new Holds();
  const { options } = plan;
  return await fetchInto(edge, { request: askedUncoded(site, request), site, key, options, holds }, signal);
}

async function fetchInto(
  edge: EdgeContext,
  asked: Omit<Visit, 'absentUpTo'>,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  for (let waits = 0; ; waits++) {
    if (signal.aborted) return 'timeout';
    const looked = await lookUp(edge, asked);
    const { visit, decision, now, landings } = looked;
    if (decision.kind === 'hit') return errorOf(decision.stored.status);
    const { key, request, absentUpTo } = visit;
    const role = edge.flights.enter(key, request, {
      waits,
      now,
      absentUpTo,
      landings,
      fits: (shared) => canReadAlong(visit, shared, now),
    });
    if (role.kind === 'join') {
      await waitForEnd(role.shared, signal);
      continue;
    }
    if (role.kind === 'wait' && (await waitForLanding(role.ready, signal))) continue;
    let sliced: Discovered | undefined;
    try {
      sliced = isSliceable(edge, looked) ? await discoverSliced(edge, visit, signal) : undefined;
      if (sliced?.kind === 'result') return await store(edge, visit, sliced.result, signal);
      if (sliced === undefined || sliced.kind === 'whole') {
        return await store(edge, visit, await ask(edge, looked, signal), signal);
      }
    } finally {
      if (role.kind === 'lead') role.land();
    }
    if (sliced.kind === 'again') continue;
    sliced.release();
    return bringSlices(edge, sliced.object, signal);
  }
}

/** Waits for the end of another request's fetch. Its reader keeps that fetch going if the client leaves. */
async function waitForEnd(shared: SharedBody, signal: AbortSignal): Promise<void> {
  const reader = shared.open(0);
  signal.addEventListener('abort', reader.wake, { once: true });
  while (shared.over === undefined && !signal.aborted) {
    if (reader.read() === undefined) await reader.wait();
  }
  signal.removeEventListener('abort', reader.wake);
  reader.leave();
}

async function store(
  edge: EdgeContext,
  visit: Visit,
  result: Exchanged,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  switch (result.kind) {
    case 'failed':
      return result.failure;
    case 'aborted':
      return 'timeout';
    case 'validated':
      return errorOf(result.stored.status);
    case 'response': {
      const { response, admission, fill } = result;
      if (fill === undefined || admission?.kind !== 'store') {
        discardBody(response);
        if (admission?.kind === 'skip') edge.flights.markUnshared(visit.key, edge.clock());
        return errorOf(response.status) ?? (admission?.kind === 'skip' ? admission.reason : 'status');
      }
      const isWhole = await gather(response.body, fill, signal);
      if (!isWhole) return signal.aborted ? 'timeout' : 'incomplete';
      return errorOf(response.status) ?? (await findReason(edge, visit, admission.stored.requestAt));
    }
    default:
      return unreachable(result);
  }
}

function ask(edge: EdgeContext, { visit, decision, others }: LookedUp, signal: AbortSignal): Eventual<Exchanged> {
  const question = { signal, onInterim: () => undefined };
  const stored = decision.kind === 'revalidate' || decision.kind === 'stale' ? decision.stored : undefined;
  if (decision.kind === 'complete' && isPart(decision.stored)) {
    return askForRest(edge, visit, decision.stored, question);
  }
  return askForWhole(edge, visit, stored, others, question);
}

/** Stores the body. Returns whether it arrived whole. */
async function gather(body: Parameters<typeof streamToStore>[0], fill: Fill, signal: AbortSignal): Promise<boolean> {
  let isWhole = false;
  const giveUp = () => body.destroy(new Error('the prefetch took too long'));
  signal.addEventListener('abort', giveUp, { once: true });
  await streamToStore(body, {
    ...fill,
    onWhole: (stored) => {
      isWhole = true;
      fill.onWhole(stored);
    },
  });
  signal.removeEventListener('abort', giveUp);
  return isWhole;
}

/** Returns why a response that was put is not stored, a purge or lack of room; `undefined` if it is stored. */
async function findReason({ store }: EdgeContext, visit: Visit, requestAt: number): Promise<Reason | undefined> {
  const entry = await store.find(visit.key);
  if (entry?.variants.some((variant) => variant.requestAt >= requestAt) === true) return undefined;
  return (entry?.invalidatedAt ?? requestAt - 1) >= requestAt ? 'invalidated' : 'incomplete';
}

/** An error status fails the prefetch even if the response is stored for a while. */
function errorOf(status: number): Reason | undefined {
  return status >= FIRST_ERROR_STATUS ? 'errorStatus' : undefined;
}

function receivedFrom({ host, target, scheme }: PrefetchRequest) {
  return {
    method: 'GET',
    target,
    httpVersion: '1.1',
    headers: ['Host', host, 'User-Agent', `${SERVICE_NAME}-prefetch`, 'Accept', '*/*'],
    isTls: scheme === 'https',
    clientAddress: OWN_ADDRESS,
    hasUnknownVersion: false,
    hasUnknownExpectation: false,
  } as const;
}

/** Client address reported to the origin: a prefetch has no client but this machine. */
const OWN_ADDRESS = '127.0.0.1';
