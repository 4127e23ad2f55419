/**
 * The fast path: answers from memory that may be sent to the next request of the same kind without the pipeline.
 * Everything an answer depends on is checked each time or is part of its key. docs/decisions/0270
 * Reduces a hit from 50–75 to 24 µs (`npm run bench -- hits`).
 */
import { firstValue } from '#http/headers.ts';
import { spanBytes } from '#http/range.ts';
import { Generations } from '#lib/generations.ts';
import { remember } from '#sites/remember.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import type { ClientRates } from '../client-rates.ts';
import { readLivePath } from '../live/live-path.ts';
import type { EdgeRequest, ReceivedRequest } from '../request.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { isMisdirected, type Secured } from '../secured.ts';
import { CLOCK_TOLERANCE_MS } from '../stages/decide.ts';
import { limitsOf } from '../stages/rate-limit.ts';
import type { CacheStore } from '../store/store.ts';
import { isLetIn, type RememberedClient } from './access-memo.ts';
import { Shortcut } from './shortcut.ts';
import { bodyInMemory } from './shortcut-body.ts';
import { ShortcutKey } from './shortcut-key.ts';

export interface Shortcuts {
  /** Key of the next `find`, filled by the caller. */
  readonly key: ShortcutKey;
  /** Returns one string object for recurring equal texts, so that comparing two is comparing references. */
  readonly oneAddress: (text: string) => string;
  readonly oneUserAgent: (text: string) => string;
  /** Keeps an answer that the pipeline is about to send, if it may be sent again. */
  learn(received: ReceivedRequest, request: EdgeRequest, site: Site, answer: EdgeAnswer): void;
  /**
   * Returns the answer found by `key` that this client may have over a connection `secured` so, and counts the request
   * where the client has a rate limit; `undefined` if the pipeline must answer.
   */
  find(client: RememberedClient, secured: Secured | undefined, now: number): Shortcut | undefined;
}

export interface ShortcutsOptions {
  readonly sites: SiteTable;
  readonly store: CacheStore;
  readonly rates: Pick<ClientRates, 'clientOf' | 'take'>;
  /** Limit of the memory of all shortcuts in bytes; may change over time. */
  readonly maxBytes: () => number;
}

/** Paths for which something other than the store may answer at any time. */
const WELL_KNOWN = '/.well-known/';
/** Interval of look-ups that keep a site in use from being evicted first. */
const SITE_USE_MS = 10_000;
/** Texts of one generation; two generations are kept. */
const MAX_TEXTS = 1_000;

export function createShortcuts({ sites, store, rates, maxBytes }: ShortcutsOptions): Shortcuts {
  // By the hash of their keys; a later key with the same hash replaces the earlier one.
  const shortcuts = new Generations<number, Shortcut>({
    maxWeight: maxBytes,
    weigh: ({ weight }) => weight,
  });
  const key = new ShortcutKey();
  const itself = (text: string) => text;
  const oneOrigin = remember(itself, MAX_TEXTS);

  /** Whether the shortcut's site is still its host's, with the same settings and purges. */
  const hasSite = (shortcut: Shortcut, now: number): boolean => {
    const { seenChanges, seenAt } = shortcut;
    if (seenChanges === sites.changes && now >= seenAt && now < seenAt + SITE_USE_MS) return true;
    if (sites.find(shortcut.host) !== shortcut.site) return false;
    shortcut.seenChanges = sites.changes;
    shortcut.seenAt = now;
    return true;
  };
  const findByKey = (now: number): Shortcut | undefined => {
    const hash = key.end();
    const shortcut = hash === undefined ? undefined : shortcuts.get(hash);
    if (hash === undefined || shortcut === undefined || !key.is(shortcut.key)) return undefined;
    const isFresh = now < shortcut.until && shortcut.requestAt <= now + CLOCK_TOLERANCE_MS;
    if (isFresh && hasSite(shortcut, now) && store.isStill?.(shortcut) === true) return shortcut;
    shortcuts.delete(hash);
    return undefined;
  };
  return {
    key,
    oneAddress: remember(itself, MAX_TEXTS),
    oneUserAgent: remember(itself, MAX_TEXTS),
    learn: (received, request, site, answer) => {
      shortcuts.trim(); // the store may have grown with each answer
      if (answer.mark.status !== 'HIT' || received.isPlain !== true || answer.isLive === true) return;
      // A URL that is signed is valid for a time, and its signature is not for logs. docs/decisions/0637
      if (request.target.startsWith(WELL_KNOWN) || site.signing !== undefined) return;
      const { host, target, headers, facts } = request;
      const acceptEncoding = firstValue(headers, 'accept-encoding') ?? '';
      const { ifNoneMatch = '', ifModifiedSince = '' } = facts;
      key.fill({ isTls: received.isTls, host, target, acceptEncoding, ifNoneMatch, ifModifiedSince });
      const hash = key.end();
      const shortcut = hash === undefined ? undefined : prepare(request, site, answer, key);
      if (hash !== undefined && shortcut !== undefined) shortcuts.set(hash, shortcut);
    },
    find: (client, secured, now) => {
      const shortcut = findByKey(now);
      if (shortcut === undefined) return undefined;
      if (secured !== undefined && isMisdirected(shortcut.site, shortcut.host, secured)) return undefined;
      if (!isLetIn(shortcut, client, oneOrigin)) return undefined;
      const { limit } = shortcut;
      if (limit === undefined) return shortcut;
      // The pipeline counts the requests that it answers, and those are refused.
      if (shortcut.body() === undefined) return undefined;
      client.counted ??= rates.clientOf(client.clientAddress);
      return rates.take(limit, client.counted, now) === 0 ? shortcut : undefined;
    },
  };
}

/** Returns `undefined` if the answer depends on anything that neither `findByKey` nor `isLetIn` checks. */
function prepare(request: EdgeRequest, site: Site, answer: EdgeAnswer, key: ShortcutKey): Shortcut | undefined {
  const { status, mark, stored, body, isFromDisk, isReplacement, closes, isLive: _isLive, ...written } = answer;
  const {
    reason: _reason,
    headers: _headers,
    response: _response,
    admitted: _admitted,
    cacheName: _cacheName,
    ...unknown
  } = written;
  unknown satisfies Record<string, never>; // a new member may be something else that the answer depends on
  // A path that is ordinary now may be a stream's at the next request. docs/decisions/0496
  if (site.type === 'live' && readLivePath(request.keyPath) !== undefined) return undefined;
  const isWhole = stored?.status === 200 && stored.range === undefined;
  if (!isWhole || request.method !== 'GET' || mark.status !== 'HIT') return undefined;
  if (stored.place === undefined || isFromDisk === true || isReplacement === true || closes === true) return undefined;
  const { host, target, cdnId } = request;
  const [limit, ...others] = limitsOf(site, request);
  if (others.length > 0) return undefined;
  const of = { key, host, target, site, stored, place: stored.place, answer, limit, cdnId };
  if (status === 304 && body.kind === 'none') return new Shortcut({ ...of, status }, undefined, []);
  const { ifNoneMatch, ifModifiedSince } = request.facts;
  // A client that names an unknown tag would cause another copy of the body.
  if (status !== 200 || ifNoneMatch !== undefined || ifModifiedSince !== undefined) return undefined;
  if (body.kind !== 'pieces' || body.pieces.length !== 1) return undefined;
  const [piece] = body.pieces;
  if (piece === undefined || Buffer.isBuffer(piece) || spanBytes(piece.span) !== piece.body.sizeBytes) return undefined;
  const bytes = bodyInMemory(piece.body);
  if (bytes === undefined) return undefined;
  return new Shortcut({ ...of, status }, piece.body, bytes);
}
