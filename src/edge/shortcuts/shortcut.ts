/** One answer from memory that may be sent again, and the conditions for that: see `shortcuts.ts`. */
import { formatAge } from '#http/age.ts';
import { formatDate } from '#http/dates.ts';
import { currentAge, freshUntil } from '#http/freshness.ts';
import { firstValue, hasField, type RawHeaders } from '#http/headers.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { CacheCode } from '#logs/line.ts';
import type { SiteLimit } from '#sites/rate-limits.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { finalHeaders, safeReason } from '../respond/final-head.ts';
import { MAX_OBJECT_AGE_MS } from '../stages/absence.ts';
import { cacheCode } from '../stages/access-log.ts';
import type { CachedResponse, EntryPlace, StoredBody } from '../store/store.ts';
import { asksOf, type GuardedAnswer, NOBODY } from './access-memo.ts';
import type { ReadyAnswer, ReadyBody, TimedField, WrittenHttp2 } from './ready-answer.ts';
import { bodyInMemory } from './shortcut-body.ts';
import type { ShortcutKey } from './shortcut-key.ts';
import type { WrittenHttp1 } from './written-http1.ts';

interface Origin {
  /** Key that the shortcut is found by. */
  readonly key: ShortcutKey;
  readonly host: string;
  readonly target: string;
  readonly site: Site;
  readonly stored: CachedResponse;
  readonly place: EntryPlace;
  readonly answer: EdgeAnswer;
  readonly status: ReadyAnswer['status'];
  readonly limit: SiteLimit | undefined;
  /** See `CdnName`. */
  readonly cdnId: string;
}

/** Limit of a body that is copied here; larger ones stay in the store only. */
const MAX_KEPT_BODY_BYTES = 8 * 1024;
/** Estimated memory beside the texts. */
const SHORTCUT_BYTES = 1_000;

export class Shortcut implements ReadyAnswer, EntryPlace, GuardedAnswer {
  // Fields that each hit reads come first, so that they are adjacent in memory.
  readonly key: Int32Array;
  /** Epoch milliseconds from which the shortcut is no longer valid. */
  readonly until: number;
  readonly requestAt: number;
  readonly slot: number;
  readonly version: number;
  readonly site: Site;
  /** When the host was last found to have this site, and the table's change count then. */
  seenChanges = Number.NaN;
  seenAt = 0;
  readonly asks: number;
  /** The rate limit that counts for it. */
  readonly limit: SiteLimit | undefined;
  letInAddress = NOBODY;
  letInUserAgent: string | undefined = NOBODY;
  letInOrigin = NOBODY;
  /** The answer as last encoded by each transport. */
  http1: WrittenHttp1 | undefined;
  http2: WrittenHttp2 | undefined;
  readonly domainId: number;
  readonly status: ReadyAnswer['status'];
  readonly cacheCode: CacheCode;
  readonly host: string;
  readonly target: string;
  readonly contentType: string | undefined;
  readonly reason: string;
  readonly bodyBytes: number;
  readonly kept: ReadyBody | undefined;
  readonly weight: number;
  readonly #headers: RawHeaders;
  /** Parts of the stored response without its body, which must not be kept in memory by this object. */
  readonly #age: Pick<CachedResponse, 'initialAgeMs' | 'responseAt'>;
  readonly #held: WeakRef<StoredBody> | undefined;

  /** `body` is absent if the answer has none. */
  constructor(
    { key, host, target, site, stored, place, answer, status, limit, cdnId }: Origin,
    body: StoredBody | undefined,
    bytes: readonly Buffer[],
  ) {
    this.asks = asksOf(site.access);
    this.limit = limit;
    this.key = key.keep();
    this.host = host;
    this.target = target;
    this.site = site;
    this.domainId = site.id;
    this.slot = place.slot;
    this.version = place.version;
    this.requestAt = stored.requestAt;
    this.until = Math.min(freshUntil(stored), stored.requestAt + MAX_OBJECT_AGE_MS);
    this.status = status;
    this.cacheCode = cacheCode(answer);
    this.reason = safeReason(answer.reason);
    this.contentType = firstValue(answer.headers, 'content-type');
    this.#headers = finalHeaders(answer, cdnId);
    this.#age = { initialAgeMs: stored.initialAgeMs, responseAt: stored.responseAt };
    this.#held = body && new WeakRef(body);
    this.bodyBytes = body?.sizeBytes ?? 0;
    // A copy, since the store's bytes may be a small part of a large buffer.
    if (this.bodyBytes <= MAX_KEPT_BODY_BYTES)
      this.kept = { pieces: this.bodyBytes === 0 ? [] : [ownBytes(bytes)], held: undefined };
    const kept = this.kept === undefined ? 0 : this.bodyBytes;
    this.weight = SHORTCUT_BYTES + 2 * (this.key.byteLength + kept + this.#headers.join().length);
  }

  /** Returns `undefined` if the body is no longer in memory. */
  body(): ReadyBody | undefined {
    if (this.kept !== undefined) return this.kept;
    const held = this.#held?.deref();
    const pieces = held && bodyInMemory(held);
    return pieces && { pieces, held };
  }

  timed(now: number): TimedField {
    if (hasField(this.#headers, 'age')) {
      const ageMs = currentAge(this.#age, now);
      return { name: 'age', value: formatAge(ageMs), changesAt: now + 1000 - (ageMs % 1000) };
    }
    const expires = formatDate(now + this.site.expiresSeconds * 1000);
    return { name: 'expires', value: expires, changesAt: now + 1000 - (now % 1000) };
  }

  headersWith(name: string, value: string): RawHeaders {
    const headers = this.#headers;
    return headers.map((text, i) => (i % 2 === 1 && headers[i - 1]?.toLowerCase() === name ? value : text));
  }
}
