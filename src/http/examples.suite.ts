/** Requests, responses and stored responses for the tests of this room. */
import assert from 'node:assert/strict';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { formatDate } from './dates.ts';
import type { RawHeaders } from './headers.ts';
import type { CacheOptions } from './options.ts';
import { readRequestFacts } from './request-facts.ts';
import { storeResponse } from './store.ts';
import type { RequestFacts, Stored } from './stored.ts';

/** A whole second, so that Date represents it exactly. */
export const NOW = Date.UTC(2026, 4, 15, 12, 0, 0);
export const URI = 'http://www.example.com/a?b';

export function at(seconds: number): string {
  return formatDate(NOW + seconds * 1000);
}

export function get(...headers: string[]): RequestFacts {
  return readRequestFacts({ method: 'GET', uri: URI, headers });
}

export function request(method: string, ...headers: string[]): RequestFacts {
  return readRequestFacts({ method, uri: URI, headers });
}

export function options(changes: Partial<CacheOptions> = {}): CacheOptions {
  return { ...DEFAULT_CACHE_OPTIONS, ...changes };
}

export interface StoreInput {
  readonly status?: number;
  readonly request?: RequestFacts;
  readonly options?: Partial<CacheOptions>;
  readonly requestAt?: number;
  readonly responseAt?: number;
  readonly invalidatedAt?: number;
}

/** Stores a response with `Date: NOW`, unless the headers have a Date. */
export function tryStore(headers: RawHeaders, input: StoreInput = {}) {
  const responseAt = input.responseAt ?? NOW;
  const hasDate = headers.some((name) => name.toLowerCase() === 'date');
  return storeResponse(
    input.request ?? get(),
    { status: input.status ?? 200, reason: 'X', headers: hasDate ? headers : ['Date', at(0), ...headers] },
    { requestAt: input.requestAt ?? responseAt, responseAt },
    options(input.options),
    input.invalidatedAt,
  );
}

export function store(headers: RawHeaders, input: StoreInput = {}): Stored {
  const outcome = tryStore(headers, input);
  assert.equal(outcome.kind, 'store', JSON.stringify(outcome));
  // The assertion above has checked the kind.
  return (outcome as Extract<typeof outcome, { kind: 'store' }>).stored;
}
