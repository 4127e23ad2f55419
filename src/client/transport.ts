/**
 * Calls over HTTP without the schemas of the contract: the envelope, errors and time-outs. Small enough for the first
 * page of a browser; `client.ts` adds the check of what is answered. Needs nothing but `fetch`.
 */
import { openEnvelope } from '../contract/envelopes.ts';
import type { ErrorCode } from '../contract/errors/errors.ts';
import type { CallOf, DataOf } from '../contract/operations.ts';
import { ROUTES, type RouteName } from '../contract/routes.ts';
import { LOCAL_USER_FIELD, localUserText } from '../contract/schema/local-user.ts';
import type { Locale } from '../contract/schema/locale.ts';
import { ClientError } from './client-error.ts';

export interface TransportOptions {
  /** Address of the service, with or without a path of its own: `https://api.example.com`. Empty: that of the page. */
  readonly baseUrl: string;
  /** Absent: the cookie of the page's session says who calls. */
  readonly accessToken?: string;
  /** Language of `info` and of labels; absent: the service's default. */
  readonly locale?: Locale;
  /** User of this machine, for control on the same machine; it tells the audit trail. */
  readonly localUser?: string;
  /** Limit of the whole call, answer included. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  /** Whether `data` has the documented fields; absent: it is believed. */
  readonly isData?: (name: RouteName, data: unknown) => boolean;
}

export interface Client {
  /** Gives `data` as the service sent it. Throws `ClientError`. Never repeated by itself: some operations add. */
  call<N extends RouteName>(name: N, request: CallOf<N>, options?: CallExtras): Promise<DataOf<N>>;
}

export interface CallExtras {
  readonly signal?: AbortSignal | undefined;
  /** Key by which a repetition is known for a day: the operation, which adds something, is done once. */
  readonly idempotencyKey?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** A page of domains with the largest refusal pages stays far below. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

export function createTransport(options: TransportOptions): Client {
  return {
    call: async (name, request, { signal, idempotencyKey } = {}) => {
      const timeout = AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      const answer = await reach(addressOf(options), timeout, signal, async (either) => {
        const response = await post(options, name, request, { signal: either, idempotencyKey });
        return { response, text: await readAnswerText(response) };
      });
      return readData(name, answer.response, answer.text, options.isData);
    },
  };
}

/** Sends a call, and returns its answer unread. Throws what `fetch` throws. */
export async function post<N extends RouteName>(
  options: TransportOptions,
  name: N,
  request: CallOf<N>,
  { signal, idempotencyKey }: CallExtras,
): Promise<Response> {
  const send = options.fetch ?? fetch;
  return await send(addressOf(options) + ROUTES[name].path, {
    method: 'POST',
    headers: {
      ...headersOf(options),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify({ access_token: options.accessToken, ...request }),
    signal: signal ?? null,
    redirect: 'error',
  });
}

export function addressOf({ baseUrl }: TransportOptions): string {
  return baseUrl.replace(/\/+$/, '');
}

function headersOf({ locale, localUser }: TransportOptions): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    accept: 'application/json',
    ...(locale !== undefined && { 'accept-language': locale }),
    ...(localUser !== undefined && { [LOCAL_USER_FIELD]: localUserText(localUser) }),
  };
}

/** Rethrows failures of `work` as a `ClientError`. */
export async function reach<T>(
  base: string,
  timeout: AbortSignal,
  signal: AbortSignal | undefined,
  work: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await work(signal === undefined ? timeout : AbortSignal.any([timeout, signal]));
  } catch (cause) {
    if (cause instanceof ClientError) throw cause;
    if (signal?.aborted) throw new ClientError('the call was aborted', { kind: 'aborted', cause });
    if (timeout.aborted) throw new ClientError('the service did not answer in time', { kind: 'timeout', cause });
    const reason = reasonOf(cause) + adviceFor(base, cause);
    throw new ClientError(`the service cannot be reached: ${reason}`, { kind: 'unreachable', cause });
  }
}

/** `fetch` hides what happened in its error's cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // OpenSSL's words are of no use to anybody who has no table of them.
  if (cause instanceof Error && isNotTls(cause)) return 'it does not speak TLS there';
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}

/** The usual mistake is the wrong scheme in the address. */
function adviceFor(base: string, error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return '';
  if (isNotTls(cause)) return `; if it speaks HTTP without TLS, its address is ${base.replace(/^https:/, 'http:')}`;
  const isCut = 'code' in cause && (cause.code === 'UND_ERR_SOCKET' || cause.code === 'ECONNRESET');
  return isCut && base.startsWith('http:')
    ? `; if it speaks TLS, its address is ${base.replace(/^http:/, 'https:')}`
    : '';
}

/** The other side answered a TLS handshake with something else. In Node; a browser does not say. */
function isNotTls(error: Error): boolean {
  return /wrong version number|packet length too long|record layer failure/.test(error.message);
}

/** Reads with a reader, because not every browser can iterate over a stream. */
export async function readAnswerText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let sizeBytes = 0; ; ) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) return text + decoder.decode();
    sizeBytes += chunk.value.byteLength;
    if (sizeBytes > MAX_ANSWER_BYTES) {
      await reader?.cancel();
      const info = `the answer is larger than ${MAX_ANSWER_BYTES} bytes`;
      throw new ClientError(info, { kind: 'unexpected', http: response.status });
    }
    text += decoder.decode(chunk.value, { stream: true });
  }
}

/** Returns the data of a successful answer. Throws `ClientError`. */
export function readData<N extends RouteName>(
  name: N,
  response: Response,
  text: string,
  isData: TransportOptions['isData'] = () => true,
): DataOf<N> {
  const details = { http: response.status, requestId: response.headers.get('x-request-id') ?? undefined };
  const opened = openEnvelope(ROUTES[name].envelope, parseJson(text));
  if (opened === undefined) {
    throw new ClientError(`HTTP ${response.status}, which is no answer of this service`, {
      kind: 'unexpected',
      ...details,
    });
  }
  const { isSuccess, status, info, data } = opened;
  if (!isSuccess) throw new ClientError(info, { ...details, status, ...refusalOf(response) });
  if (!isData(name, data)) {
    throw new ClientError('the answer lacks documented fields', { kind: 'unexpected', ...details, status });
  }
  // Checked, or believed. Returned as it came: a newer service may send more fields than the schema would keep.
  return data as DataOf<N>;
}

function refusalOf({ status, headers }: Response) {
  // With 503 the service asks to wait too, but it may have been done.
  const retryAfterSeconds = Number((status === 429 && headers.get('retry-after')) || undefined);
  return {
    kind: 'refused',
    code: (headers.get('x-error-code') ?? undefined) as ErrorCode | undefined, // a word of the service's table
    currentRevision: headers.get('x-current-revision') ?? undefined,
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  } as const;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON: the caller reports it
  }
}
