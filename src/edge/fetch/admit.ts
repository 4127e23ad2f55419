/** Stage 9: may an origin's response be stored, and for how long? Pure. */
import { asWhole } from '#http/combine.ts';
import { firstValue } from '#http/headers.ts';
import type { CacheOptions } from '#http/options.ts';
import { expectedBodyBytes, storeResponse } from '#http/store.ts';
import type { Exchange, RequestFacts, ResponseHead, Stored } from '#http/stored.ts';
import type { Skip } from '../reasons.ts';
import type { CacheStore } from '../store/store.ts';

export type Admission =
  /** The times in `stored` are absolute instants. The body decides in the end: an incomplete body is not stored. */
  { readonly kind: 'store'; readonly stored: Stored } | { readonly kind: 'skip'; readonly reason: Skip };

export interface AdmitInput {
  readonly request: RequestFacts;
  readonly response: ResponseHead;
  readonly exchange: Exchange;
  readonly options: CacheOptions;
  /** Epoch milliseconds. A response that was requested at or before this instant is not stored. */
  readonly absentUpTo: number;
  readonly store: Pick<CacheStore, 'maxBodyBytes' | 'refuses'>;
}

export function admitResponse(input: AdmitInput): Admission {
  const { request, response, exchange, options, absentUpTo, store } = input;
  if (response.status === 206 && isMultipart(response)) return { kind: 'skip', reason: 'contentRange' };
  const outcome = storeResponse(request, response, exchange, options, absentUpTo);
  if (outcome.kind === 'skip') return outcome;
  const bodyBytes = expectedBodyBytes(outcome.stored);
  if ((bodyBytes ?? 0) > store.maxBodyBytes) return { kind: 'skip', reason: 'tooLarge' };
  const reason = store.refuses(bodyBytes);
  return reason === undefined ? { kind: 'store', stored: asWhole(outcome.stored) } : { kind: 'skip', reason };
}

/** A multipart body is framed, and `Content-Range` would describe a single part only. RFC 9110 §15.3.7.2 */
function isMultipart({ headers }: ResponseHead): boolean {
  return /^multipart\/byteranges\b/i.test(firstValue(headers, 'content-type') ?? '');
}
