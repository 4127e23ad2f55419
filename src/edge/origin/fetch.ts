/** One request to a site's origins: round-robin, with failover to the next origin within the request. Edge rule 2 */
import type { Scheme } from '#http/absolute-form.ts';
import type { RawHeaders } from '#http/headers.ts';
import type { Cancellation } from '#lib/cancellation.ts';
import { clientNetwork } from '#lib/cidr.ts';
import { after, type Eventual } from '#lib/future.ts';
import { Lru } from '#lib/lru.ts';
import type { Site } from '#sites/site.ts';
import type { OriginFailure } from '../reasons.ts';
import { attemptOrigin } from './attempt.ts';
import { chooseOrigins, createOriginDescriber, type OriginAddress, type OriginCandidate } from './choose.ts';
import type { OriginHealth } from './health.ts';
import { type AttemptResult, type AttemptTools, discardBody, type OriginResponse } from './origin-request.ts';
import type { OriginUses } from './origin-use.ts';
import type { RequestBody } from './request-body.ts';

export interface Fetch {
  readonly site: Site;
  readonly method: string;
  /** Path and query as the client wrote them. */
  readonly target: string;
  readonly scheme: Scheme;
  readonly host: string;
  /** Fields from `originHeaders`, without `Host`. */
  readonly headers: RawHeaders;
  /** The request counts towards this client's share of the origin's connections. */
  readonly clientAddress: string;
  readonly body: RequestBody | undefined;
  /** See `OriginRequest`. */
  readonly upgrade?: 'websocket';
  readonly onInterim: (status: number, headers: RawHeaders) => void;
  readonly signal: Cancellation;
  /** What a parent may be asked for; absent: origins are asked. */
  readonly cacheable?: Cacheable | undefined;
}

export interface Cacheable {
  readonly key: string;
  /** Returns the instant up to which responses count as absent by now, compared with the time of their request. */
  readonly absentUpTo: () => number;
  /** Tiers that the request has passed. */
  readonly hops: number;
}

export type FetchResult =
  | { readonly kind: 'response'; readonly response: OriginResponse }
  /** Every attempt failed; the failure is the last one's. */
  | { readonly kind: 'failed'; readonly failure: OriginFailure; readonly detail: string }
  | { readonly kind: 'aborted' };

export interface OriginsOptions extends AttemptTools {
  readonly health: OriginHealth;
  /** Notified of origins that are asked, and of those that are passed over. */
  readonly uses: Pick<OriginUses, 'note'>;
  /** Called for every failed attempt, for logs and metrics. */
  readonly onFailure: (failure: OriginFailure, origin: string, detail: string) => void;
}

export interface Origins {
  fetch(fetch: Fetch): Eventual<FetchResult>;
}

/** Sites whose round-robin position is remembered; other sites start at their first origin. */
const MAX_TURNS = 10_000;
/** Statuses after which the next origin is tried. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 504]);
const REPEATABLE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export function createOrigins(options: OriginsOptions): Origins {
  const { health, uses, clock, onFailure } = options;
  const describe = createOriginDescriber();
  const turns = new Lru<number, number>({ maxWeight: MAX_TURNS });

  const takeTurn = ({ id, origins }: Site): number => {
    if (origins.primary.length < 2) return 0;
    const turn = turns.get(id) ?? 0;
    turns.set(id, turn + 1);
    return turn;
  };

  const note = (candidate: OriginCandidate, result: AttemptResult): void => {
    if (result.kind === 'response') health.noteAnswer(candidate);
    if (result.kind !== 'failure') return;
    health.noteFailure(candidate, result.failure, clock());
    onFailure(result.failure, candidate.key, result.detail);
  };

  /** Asks the origins from `index` on. `last` is the result if there are none. */
  const askFrom = (index: number, last: FetchResult, turn: OriginTurn): Eventual<FetchResult> => {
    const { fetch, candidates, now, isDown } = turn;
    const candidate = candidates[index];
    if (candidate === undefined) return last;
    if (!isDown(candidate)) uses.note({ target: candidate.probe, isPassedOver: false }, now);
    const onCut = (detail: string) => onFailure('originCut', candidate.key, detail);
    return after(askOrigin(candidate, fetch, options, onCut), (result) => {
      note(candidate, result);
      if (result.kind === 'aborted') return result;
      if (result.kind === 'response') {
        const isLast = index === candidates.length - 1;
        if (isLast || !isRepeatable(fetch) || !RETRIED_STATUSES.has(result.response.status)) return result;
        discardBody(result.response);
        return askFrom(index + 1, last, turn);
      }
      const failed = { kind: 'failed', failure: result.failure, detail: result.detail } as const;
      return mayGoOn(fetch, result.isSent) ? askFrom(index + 1, failed, turn) : failed;
    });
  };

  return {
    fetch: (fetch) => {
      const { site, scheme, host } = fetch;
      const now = clock();
      const isDown = (candidate: OriginCandidate) => {
        const isPassedOver = health.isDown(candidate, now);
        if (isPassedOver) uses.note({ target: candidate.probe, isPassedOver }, now);
        return isPassedOver;
      };
      const candidates = chooseOrigins(describe(site, scheme, host), takeTurn(site), isDown);
      return askFrom(0, NO_ORIGIN, { fetch, candidates, now, isDown });
    },
  };
}

/** The origins that a request may try. */
interface OriginTurn {
  readonly fetch: Fetch;
  readonly candidates: readonly OriginCandidate[];
  readonly now: number;
  readonly isDown: (candidate: OriginCandidate) => boolean;
}

const NO_ORIGIN: FetchResult = { kind: 'failed', failure: 'noOrigin', detail: 'no origin is set' };

/** Asks one origin. `onCut` is called if the response's body breaks off. */
export function askOrigin(
  { destination, hostHeader }: OriginAddress,
  fetch: Fetch,
  tools: AttemptTools,
  onCut: (detail: string) => void,
): Eventual<AttemptResult> {
  const { site, method, target, body, upgrade, onInterim, signal } = fetch;
  const client = clientNetwork(fetch.clientAddress);
  const headers = ['Host', hostHeader, ...fetch.headers];
  const request = { domainId: site.id, client, method, target, body, upgrade, onInterim, onCut, signal, headers };
  const pool = tools.pools.get(site.id, destination);
  const counted = (result: AttemptResult): AttemptResult => {
    if (result.kind === 'response') tools.countLatency(latencyOf(result.response));
    return result;
  };
  return after(attemptOrigin(pool, request, tools), (first) => {
    // An origin that closes an idle connection at that moment need not be down: retry once on a fresh connection.
    const isIdleClose = first.kind === 'failure' && first.failure === 'originReset' && first.isReused;
    if (!isIdleClose || !isRepeatable(fetch)) return counted(first);
    return after(attemptOrigin(pool, { ...request, needsFresh: true }, tools), counted);
  });
}

/** Milliseconds; 0 if the clock was set back meanwhile. */
function latencyOf({ requestAt, responseAt }: OriginResponse): number {
  return Math.max(0, responseAt - requestAt);
}

/** Whether the request can be sent twice, and doing so is harmless. */
function isRepeatable({ method, body }: Fetch): boolean {
  return body?.isReplayable !== false && REPEATABLE_METHODS.has(method);
}

function mayGoOn(fetch: Fetch, isSent: boolean): boolean {
  return isRepeatable(fetch) || (!isSent && fetch.body?.isReplayable !== false);
}
