/**
 * Answers out of memory that may be given again to the next request of their kind, without asking the pipeline: whatever it
 * depends on is looked at each time, or is part of what it is found by. docs/decisions/0270
 * Brings 50–75 → 24 µs a hit (`npm run bench -- hits`).
 */
import { firstValue } from '#http/headers.ts';
import { spanBytes } from '#http/range.ts';
import { Generations } from '#lib/generations.ts';
import { remember } from '#sites/remember.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import { readLivePath } from '../live/live-path.ts';
import type { EdgeRequest, ReceivedRequest } from '../request.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { isMisdirected, type Secured } from '../secured.ts';
import { CLOCK_TOLERANCE_MS } from '../stages/decide.ts';
import type { CacheStore } from '../store/store.ts';
import { isLetIn, type RememberedClient } from './access-memo.ts';
import { Shortcut } from './shortcut.ts';
import { bodyInMemory } from './shortcut-body.ts';
import { ShortcutKey } from './shortcut-key.ts';

export interface Shortcuts {
  /** The key for the next `find`, filled by the caller. */
  readonly key: ShortcutKey;
  /** One string object for equal texts that recur, so that comparing two is comparing references. */
  readonly oneAddress: (text: string) => string;
  readonly oneUserAgent: (text: string) => string;
  /** Keeps an answer that the pipeline is about to give, if it may be given again. */
  learn(received: ReceivedRequest, request: EdgeRequest, site: Site, answer: EdgeAnswer): void;
  /**
   * The answer found by `key` that this client may have, over a connection `secured` so; `undefined`: the pipeline must
   * answer.
   */
  find(client: RememberedClient, secured: Secured | undefined, now: number): Shortcut | undefined;
}

export interface ShortcutsOptions {
  readonly sites: SiteTable;
  readonly store: CacheStore;
  /** Memory of all shortcuts together; may change over time. */
  readonly maxBytes: () => number;
}

/** Paths that something other than the store may answer at any moment. */
const WELL_KNOWN = '/.well-known/';
/** Interval of look-ups that keep a site in use from being evicted first. */
const SITE_USE_MS = 10_000;
/** Texts of one generation; two generations are kept. */
const MAX_TEXTS = 1_000;

export function createShortcuts({ sites, store, maxBytes }: ShortcutsOptions): Shortcuts {
  // By the hash of their keys: of two that share one, the later is kept.
  const shortcuts = new Generations<number, Shortcut>({
    maxWeight: maxBytes,
    weigh: ({ weight }) => weight,
  });
  const key = new ShortcutKey();
  const itself = (text: string) => text;
  const oneOrigin = remember(itself, MAX_TEXTS);

  /** Whether it is still its host's, with the settings and purges that it had. */
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
      shortcuts.trim(); // with each answer the store may have taken more
      if (answer.mark.status !== 'HIT' || received.isPlain !== true || answer.isLive === true) return;
      if (request.target.startsWith(WELL_KNOWN)) return;
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
      return isLetIn(shortcut, client, oneOrigin) ? shortcut : undefined;
    },
  };
}

/** `undefined`: what it depends on is not all looked at by `findByKey`, or when the client is asked about. */
function prepare(request: EdgeRequest, site: Site, answer: EdgeAnswer, key: ShortcutKey): Shortcut | undefined {
  const { status, mark, stored, body, isFromDisk, isReplacement, closes, isLive: _isLive, ...written } = answer;
  const { reason: _reason, headers: _headers, response: _response, ...unknown } = written;
  unknown satisfies Record<string, never>; // another member may be another thing that the answer depends on
  // What is ordinary under such a path now may be a stream's when the next one asks. docs/decisions/0496
  if (site.type === 'live' && readLivePath(request.keyPath) !== undefined) return undefined;
  const isWhole = stored?.status === 200 && stored.range === undefined;
  if (!isWhole || request.method !== 'GET' || mark.status !== 'HIT') return undefined;
  if (stored.place === undefined || isFromDisk === true || isReplacement === true || closes === true) return undefined;
  const { host, target } = request;
  const of = { key, host, target, site, stored, place: stored.place, answer };
  if (status === 304 && body.kind === 'none') return new Shortcut({ ...of, status }, undefined, []);
  const { ifNoneMatch, ifModifiedSince } = request.facts;
  // Whoever names a tag that nobody has would have us keep the body once more.
  if (status !== 200 || ifNoneMatch !== undefined || ifModifiedSince !== undefined) return undefined;
  if (body.kind !== 'pieces' || body.pieces.length !== 1) return undefined;
  const [piece] = body.pieces;
  if (piece === undefined || Buffer.isBuffer(piece) || spanBytes(piece.span) !== piece.body.sizeBytes) return undefined;
  const bytes = bodyInMemory(piece.body);
  if (bytes === undefined) return undefined;
  return new Shortcut({ ...of, status }, piece.body, bytes);
}
