/** Follows redirects of origins: the response at their end is the answer. Edge rule 7, docs/decisions/0130 */
import { Readable } from 'node:stream';
import { FieldNames } from '#http/field-names.ts';
import { firstValue, type RawHeaders, withField, withoutFields } from '#http/headers.ts';
import type { Cancellation } from '#lib/cancellation.ts';
import type { Site } from '#sites/site.ts';
import { elsewhereHeaders } from '../origin-headers.ts';
import type { OriginFailure, Unfollowed } from '../reasons.ts';
import { askOrigin, type Fetch, type FetchResult, type Origins } from './fetch.ts';
import type { AttemptTools, OriginResponse } from './origin-request.ts';
import { asReadable } from './own/body.ts';
import { type Chain, currentHop, firstHop, type Hop, isFollowable, readRedirect } from './redirect.ts';

export interface RedirectOptions {
  readonly origins: Origins;
  /** Tools for hosts that are not the site's. Their pools are separate, since origins may name any number of hosts. */
  readonly elsewhere: AttemptTools;
  /** Returns the site of this edge that has the host. */
  readonly siteOf: (host: string) => Site | undefined;
  readonly onRedirect: (outcome: 'followed' | Unfollowed) => void;
  /** Called if a target that is not the site's was asked and failed. */
  readonly onFailure: (failure: OriginFailure, detail: string) => void;
}

/**
 * Limit of a redirect's body. The redirect is kept until its target has answered; one with a larger body is passed on.
 */
const MAX_HELD_BYTES = 64 * 1024;
const HOLD_MS = 5_000;

/** Wraps `origins` so that redirects are followed for sites that have this set. */
export function createFollowingOrigins(options: RedirectOptions): Origins {
  const { origins } = options;
  return {
    fetch: (fetch) => (isFollowed(fetch) ? fetchToTheEnd(fetch, options) : origins.fetch(fetch)),
  };
}

function isFollowed({ site, method, body, upgrade }: Fetch): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return site.redirectFollow && isRead && body === undefined && upgrade === undefined;
}

async function fetchToTheEnd(fetch: Fetch, options: RedirectOptions): Promise<FetchResult> {
  const { site, scheme, host, target, signal } = fetch;
  const { siteOf, onRedirect } = options;
  let chain: Chain = { site, scheme, siteOf, hops: [firstHop(site, scheme, host, target)] };
  let result = await options.origins.fetch(fetch);
  while (result.kind === 'response' && isFollowable(result.response.status)) {
    const lead = readRedirect(result.response.headers, chain);
    if (lead.kind === 'stay') {
      onRedirect(lead.reason);
      return result;
    }
    const held = await hold(result.response, signal);
    if (held.kind === 'broken') {
      if (signal.aborted) return { kind: 'aborted' };
      return { kind: 'failed', failure: 'originCut', detail: 'the body of a redirect broke off' };
    }
    if (held.kind === 'large') {
      onRedirect('body');
      return { kind: 'response', response: held.response };
    }
    chain = { ...chain, hops: [...chain.hops, lead.hop] };
    const next = await askHop(fetch, currentHop(chain), options);
    if (next.kind === 'failed') {
      onRedirect('failed');
      return { kind: 'response', response: { ...held.response, unfollowed: next.failure } };
    }
    if (next.kind === 'aborted') return next;
    onRedirect('followed');
    // As old as the redirect that led to it: a purge between the two applies to both.
    result = { kind: 'response', response: { ...next.response, requestAt: held.response.requestAt } };
  }
  return result;
}

async function askHop(fetch: Fetch, { host, target, elsewhere }: Hop, options: RedirectOptions): Promise<FetchResult> {
  const headers = withoutFields(fetch.headers, OF_THE_FIRST);
  if (elsewhere === undefined) {
    return options.origins.fetch({ ...fetch, host, target, headers: withField(headers, 'X-Forwarded-Host', host) });
  }
  const asked = { ...fetch, host, target, headers: elsewhereHeaders(headers) };
  const result = await askOrigin(elsewhere, asked, options.elsewhere, (detail) =>
    options.onFailure('originCut', `${elsewhere.key}: ${detail}`),
  );
  if (result.kind === 'response') {
    const { response } = result;
    return { kind: 'response', response: { ...response, headers: withoutFields(response.headers, OF_ITS_HOST) } };
  }
  if (result.kind === 'aborted') return result;
  const { failure, detail } = result;
  options.onFailure(failure, `${elsewhere.key}: ${detail}`);
  return { kind: 'failed', failure, detail };
}

/**
 * Conditions that must not reach a redirect's target. An entity tag names a representation; a date would match whatever
 * another address has.
 */
const OF_THE_FIRST = new FieldNames(['if-modified-since']);

/** Fields that a host addresses to its own clients; viewers would attribute them to the site. */
const OF_ITS_HOST = new FieldNames([
  'clear-site-data',
  'nel',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
]);

type Held =
  /** The whole body is in memory, and the connection is free for the next request. */
  | { readonly kind: 'held'; readonly response: OriginResponse }
  /** The body is too large to hold; the response is complete, with no byte of its body lost. */
  | { readonly kind: 'large'; readonly response: OriginResponse }
  | { readonly kind: 'broken' };

async function hold(response: OriginResponse, signal: Cancellation): Promise<Held> {
  if (announcesMore(response.headers)) return { kind: 'large', response };
  const body = asReadable(response.body);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const giveUp = () => body.destroy(new Error('the redirect is not waited for any more'));
  const timer = setTimeout(giveUp, HOLD_MS);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_HELD_BYTES) break;
    }
  } catch {
    return { kind: 'broken' }; // also if the client has left
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
  if (sizeBytes > MAX_HELD_BYTES) {
    body.unshift(Buffer.concat(chunks));
    return { kind: 'large', response: { ...response, body } };
  }
  return { kind: 'held', response: { ...response, body: Readable.from(chunks, { objectMode: false }) } };
}

function announcesMore(headers: RawHeaders): boolean {
  return Number(firstValue(headers, 'content-length') ?? 0) > MAX_HELD_BYTES;
}
