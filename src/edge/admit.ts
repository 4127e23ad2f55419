/** Stage 9: may an origin's response be stored, and for how long? Pure. */
import { firstValue, type RawHeaders } from '#http/headers.ts';
import type { CacheOptions } from '#http/options.ts';
import { expectedBodyBytes, storeResponse } from '#http/store.ts';
import type { Exchange, RequestFacts, ResponseHead, Stored } from '#http/stored.ts';
import type { Skip } from './reasons.ts';

export type Admission =
  /** With absolute instants; the body decides in the end: an incomplete one is not stored. */
  { readonly kind: 'store'; readonly stored: Stored } | { readonly kind: 'skip'; readonly reason: Skip };

export interface AdmitInput {
  readonly request: RequestFacts;
  readonly response: ResponseHead;
  readonly exchange: Exchange;
  readonly options: CacheOptions;
  /** When the key was invalidated last. */
  readonly invalidatedAt: number | undefined;
  /** The store's limit for one body. */
  readonly maxBodyBytes: number;
}

export function admitResponse(input: AdmitInput): Admission {
  const { request, response, exchange, options, invalidatedAt, maxBodyBytes } = input;
  // Parts are passed on, not stored, until slices are.
  if (response.status === 206) return { kind: 'skip', reason: 'partial' };
  const outcome = storeResponse(request, response, exchange, options, invalidatedAt);
  if (outcome.kind === 'skip') return outcome;
  if ((expectedBodyBytes(outcome.stored) ?? 0) > maxBodyBytes) return { kind: 'skip', reason: 'tooLarge' };
  return outcome;
}

/** What a head says its body will have; `undefined` when it does not. */
export function announcedBytes(headers: RawHeaders): number | undefined {
  const length = firstValue(headers, 'content-length');
  return length === undefined || !/^\d+$/.test(length) ? undefined : Number(length);
}
