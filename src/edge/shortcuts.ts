/**
 * Answers out of memory that may be given again to the next request of their kind, without asking the pipeline: whatever it
 * depends on is looked at each time, or is part of what it is found by. docs/decisions/0270
 */
import { formatAge } from '#http/age.ts';
import { formatDate } from '#http/dates.ts';
import { currentAge, freshUntil } from '#http/freshness.ts';
import { firstValue, hasField, type RawHeaders } from '#http/headers.ts';
import { spanBytes } from '#http/range.ts';
import { Generations } from '#lib/generations.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { CacheCode } from '#logs/line.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import { MAX_OBJECT_AGE_MS } from './absence.ts';
import { type AskingClient, denialOf } from './access.ts';
import { cacheCode } from './access-log.ts';
import { CLOCK_TOLERANCE_MS } from './decide.ts';
import type { EdgeRequest, ReceivedRequest } from './request.ts';
import type { EdgeAnswer } from './respond/answer.ts';
import { finalHeaders, safeReason } from './respond/final-head.ts';
import type { CachedResponse, CacheStore, EntryPlace, StoredBody } from './store/store.ts';
import { isMisdirected, type Secured } from './tls/secured.ts';

/** A GET whose head says nothing else that counts for what is stored and does not vary but by the coding. */
export interface PlainRequest extends AskingClient {
  readonly isTls: boolean;
  readonly secured: Secured | undefined;
  /** As a site is found by. */
  readonly host: string;
  readonly target: string;
  /** Empty: absent. */
  readonly acceptEncoding: string;
  /** From `conditionsOf`. */
  readonly conditions: string;
}

/** `If-None-Match` and `If-Modified-Since` as one text, which is empty without them; neither is empty where it is there. */
export function conditionsOf(ifNoneMatch: string | undefined, ifModifiedSince: string | undefined): string {
  if (ifNoneMatch === undefined && ifModifiedSince === undefined) return '';
  return `\n${ifNoneMatch ?? ''}\n${ifModifiedSince ?? ''}`; // no field holds a line end
}

export interface Shortcuts {
  /** Keeps an answer that the pipeline is about to give, if it may be given again. */
  learn(received: ReceivedRequest, request: EdgeRequest, site: Site, answer: EdgeAnswer): void;
  /** `undefined`: the pipeline is to answer. */
  find(request: PlainRequest, now: number): PreparedAnswer | undefined;
}

/** One answer, for the second or so in which nothing of its head changes. */
export interface PreparedAnswer {
  readonly domainId: number;
  readonly host: string;
  readonly contentType: string | undefined;
  readonly status: 200 | 304;
  readonly reason: string;
  readonly cacheCode: CacheCode;
  readonly headers: RawHeaders;
  readonly body: readonly Buffer[];
  /** Whose bytes those are, where they are the store's own: for `Pins`. */
  readonly held?: StoredBody;
  /** As each transport has written it, for as long. */
  readonly written: { http1?: WrittenAnswer<Buffer>; http2?: WrittenAnswer<string[]> };
}

export interface WrittenAnswer<T> {
  /** May have the body behind it. */
  readonly head: T;
  /** As they count in the log. */
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** `formatAnswered` of it. */
  readonly logged: Buffer;
}

export interface ShortcutsOptions {
  readonly sites: SiteTable;
  readonly store: CacheStore;
  /** For all of them together; may change. */
  readonly maxBytes: () => number;
}

/** Larger bodies take so long to send that nothing else counts. */
const MAX_BODY_BYTES = 1024 * 1024;
/** The bytes of smaller ones are kept here; of larger ones only where the store has them. */
const MAX_KEPT_BODY_BYTES = 8 * 1024;
/** What the engine takes beside the texts. */
const SHORTCUT_BYTES = 1_000;
/** What clients choose of it must not fill the memory. */
const MAX_KEY_CHARS = 1_024;
/** Where something else than the store may answer from one moment to the next. */
const WELL_KNOWN = '/.well-known/';

export function createShortcuts({ sites, store, maxBytes }: ShortcutsOptions): Shortcuts {
  const shortcuts = new Generations<string, Shortcut>({
    maxWeight: maxBytes,
    weigh: ({ weight }) => weight,
  });
  const isValid = ({ host, site, place, stored, until }: Shortcut, now: number) =>
    now < until &&
    stored.requestAt <= now + CLOCK_TOLERANCE_MS &&
    sites.find(host) === site && // its settings and purges
    store.isStill?.(place) === true;
  return {
    learn: (received, request, site, answer) => {
      shortcuts.trim(); // with each answer the store may have taken more
      if (received.isPlain !== true || request.target.startsWith(WELL_KNOWN)) return;
      const { host, target, headers, facts } = request;
      const acceptEncoding = firstValue(headers, 'accept-encoding') ?? '';
      const conditions = conditionsOf(facts.ifNoneMatch, facts.ifModifiedSince);
      const key = keyOf({ isTls: received.isTls, host, target, acceptEncoding, conditions });
      if (key.length > MAX_KEY_CHARS) return;
      const shortcut = prepare(request, site, answer, key.length);
      if (shortcut !== undefined) shortcuts.set(key, shortcut);
    },
    find: (request, now) => {
      const key = keyOf(request);
      const shortcut = shortcuts.get(key);
      if (shortcut === undefined) return undefined;
      const answer = isValid(shortcut, now) ? shortcut.answerAt(now) : undefined;
      if (answer === undefined) {
        shortcuts.delete(key);
        return undefined;
      }
      const { site, host } = shortcut;
      if (request.secured !== undefined && isMisdirected(site, host, request.secured)) return undefined;
      return denialOf(site.access, request) === undefined ? answer : undefined;
    },
  };
}

type KeyParts = Omit<PlainRequest, keyof AskingClient | 'secured'>;

function keyOf({ isTls, host, target, acceptEncoding, conditions }: KeyParts): string {
  return `${isTls ? 'https' : 'http'}://${host}${target} ${acceptEncoding}${conditions}`; // no target holds a blank
}

/** `undefined`: what it depends on is not all looked at by `find`. */
function prepare(request: EdgeRequest, site: Site, answer: EdgeAnswer, keyChars: number): Shortcut | undefined {
  const { status, mark, stored, body } = answer;
  const isWhole = stored?.status === 200 && stored.range === undefined;
  if (!isWhole || request.method !== 'GET' || mark.status !== 'HIT') return undefined;
  if (stored.place === undefined || answer.isFromDisk === true || answer.closes === true) return undefined;
  const of = { host: request.host, site, stored, place: stored.place, answer, keyChars };
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

/** `undefined`: too large, or not there. */
function bodyInMemory(body: StoredBody): readonly Buffer[] | undefined {
  if (body.sizeBytes > MAX_BODY_BYTES || body.isOnDisk === true) return undefined;
  const pieces = body.read({ first: 0, last: body.sizeBytes - 1 });
  return Symbol.iterator in pieces ? [...pieces] : undefined;
}

interface Origin {
  readonly host: string;
  readonly site: Site;
  readonly stored: CachedResponse;
  readonly place: EntryPlace;
  readonly answer: EdgeAnswer;
  /** Of what it is found by. */
  readonly keyChars: number;
  readonly status: PreparedAnswer['status'];
}

class Shortcut {
  readonly host: string;
  readonly site: Site;
  readonly stored: CachedResponse;
  readonly place: EntryPlace;
  /** The first instant at which it is no answer any more. */
  readonly until: number;
  readonly weight: number;
  readonly #status: PreparedAnswer['status'];
  readonly #reason: string;
  readonly #cacheCode: CacheCode;
  readonly #headers: RawHeaders;
  readonly #contentType: string | undefined;
  readonly #kept: readonly Buffer[] | undefined;
  readonly #held: WeakRef<StoredBody> | undefined;
  #answer: PreparedAnswer | undefined;
  #from = 0;
  #to = 0;

  /** `body`: absent where there is none to be sent. */
  constructor(
    { host, site, stored, place, answer, keyChars, status }: Origin,
    body: StoredBody | undefined,
    bytes: readonly Buffer[],
  ) {
    this.host = host;
    this.site = site;
    this.stored = stored;
    this.place = place;
    this.until = Math.min(freshUntil(stored), stored.requestAt + MAX_OBJECT_AGE_MS);
    this.#status = status;
    this.#cacheCode = cacheCode(answer);
    this.#reason = safeReason(answer.reason);
    this.#headers = finalHeaders(answer);
    this.#contentType = firstValue(answer.headers, 'content-type');
    this.#held = body && new WeakRef(body);
    const bodyBytes = body?.sizeBytes ?? 0;
    // A copy: what the store gave may be a small part of something large.
    if (bodyBytes <= MAX_KEPT_BODY_BYTES) this.#kept = bodyBytes === 0 ? [] : [ownBytes(bytes)];
    const kept = this.#kept === undefined ? 0 : bodyBytes;
    this.weight = SHORTCUT_BYTES + 2 * (keyChars + kept + this.#headers.join().length);
  }

  /** `undefined`: the body has left. */
  answerAt(now: number): PreparedAnswer | undefined {
    if (this.#answer === undefined || now < this.#from || now >= this.#to) this.#answer = this.#prepareAt(now);
    if (this.#kept !== undefined) return this.#answer;
    // Not to be kept in memory by us.
    const held = this.#held?.deref();
    const body = held && bodyInMemory(held);
    return body && { ...this.#answer, body, held };
  }

  #prepareAt(now: number): PreparedAnswer {
    const { headers, changesAt } = headersAt(this.#headers, this.stored, this.site, now);
    this.#from = now;
    this.#to = changesAt;
    return {
      domainId: this.site.id,
      host: this.host,
      contentType: this.#contentType,
      status: this.#status,
      reason: this.#reason,
      cacheCode: this.#cacheCode,
      headers,
      body: this.#kept ?? [],
      written: {},
    };
  }
}

/** What time changes in an answer out of the store: `Age`, or in its place, where the site says how long browsers keep it, `Expires`. */
function headersAt(
  headers: RawHeaders,
  stored: CachedResponse,
  { expiresSeconds }: Site,
  now: number,
): { readonly headers: RawHeaders; readonly changesAt: number } {
  const ageMs = currentAge(stored, now);
  if (hasField(headers, 'age')) {
    return { headers: withValue(headers, 'age', formatAge(ageMs)), changesAt: now + 1000 - (ageMs % 1000) };
  }
  const expires = formatDate(now + expiresSeconds * 1000);
  return { headers: withValue(headers, 'expires', expires), changesAt: now + 1000 - (now % 1000) };
}

/** In its place. */
function withValue(headers: RawHeaders, name: string, value: string): RawHeaders {
  return headers.map((text, i) => (i % 2 === 1 && headers[i - 1]?.toLowerCase() === name ? value : text));
}
