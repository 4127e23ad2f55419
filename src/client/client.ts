/**
 * The typed client: any operation of the contract over HTTP. Needs nothing but `fetch`, so it runs in Node and in
 * browsers.
 */
import { openEnvelope } from '../contract/envelopes.ts';
import { ERRORS, type ErrorCode } from '../contract/errors/errors.ts';
import { type CallOf, type DataOf, OPERATIONS } from '../contract/operations.ts';
import { ROUTES, type RouteName } from '../contract/routes.ts';
import { LOCAL_USER_FIELD, localUserText } from '../contract/schema/local-user.ts';
import type { Locale } from '../contract/schema/locale.ts';

export interface ClientOptions {
  /** Address of the service, with or without a path of its own: `https://api.example.com`. */
  readonly baseUrl: string;
  readonly accessToken: string;
  /** Language of `info` and of labels; absent: the service's default. */
  readonly locale?: Locale;
  /** User of this machine, for control on the same machine; it tells the audit trail. */
  readonly localUser?: string;
  /** Limit of the whole call, answer included. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export interface Client {
  /** Gives `data` as the service sent it. Throws `ClientError`. Never repeated by itself: some operations add. */
  call<N extends RouteName>(name: N, request: CallOf<N>, options?: CallOptions): Promise<DataOf<N>>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  /** Key by which a repetition is known for a day: the operation, which adds something, is done once. */
  readonly idempotencyKey?: string;
}

/**
 * `refused`: the service answered that it did not do it. `unreachable`, `timeout`, `aborted`: there is no answer, and
 * it may have been done. `unexpected`: the answer is not one of this service.
 */
export type ClientErrorKind = 'refused' | 'unreachable' | 'timeout' | 'aborted' | 'unexpected';

interface ClientErrorDetails {
  readonly kind: ClientErrorKind;
  /** `status` (or `code`, of an operation that sends) of the envelope. */
  readonly status?: number | undefined;
  /** Status of the HTTP answer. */
  readonly http?: number | undefined;
  readonly requestId?: string | undefined;
  /** Row of the error table. */
  readonly code?: ErrorCode | undefined;
  /** When the service says that calls come too fast; then it did nothing. */
  readonly retryAfterSeconds?: number | undefined;
  /** Current revision of the domain's settings if `if_revision` was another one. */
  readonly currentRevision?: string | undefined;
  readonly cause?: unknown;
}

export class ClientError extends Error {
  readonly kind: ClientErrorKind;
  /** What the service said, or what went wrong. */
  readonly info: string;
  readonly status: number | undefined;
  readonly http: number | undefined;
  readonly requestId: string | undefined;
  readonly code: ErrorCode | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly currentRevision: string | undefined;

  constructor(info: string, details: ClientErrorDetails) {
    super(info, { cause: details.cause });
    this.name = 'ClientError';
    this.kind = details.kind;
    this.info = info;
    this.status = details.status;
    this.http = details.http;
    this.requestId = details.requestId;
    this.code = details.code;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.currentRevision = details.currentRevision;
  }
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** A page of domains with the largest refusal pages stays far below. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

export function createClient(options: ClientOptions): Client {
  const base = options.baseUrl.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;
  return {
    call: async (name, request, { signal, idempotencyKey } = {}) => {
      const timeout = AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      const answer = await reach(base, timeout, signal, async (either) => {
        const response = await send(base + ROUTES[name].path, {
          method: 'POST',
          headers: {
            ...headersOf(options),
            ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          },
          body: JSON.stringify({ access_token: options.accessToken, ...request }),
          signal: either,
          redirect: 'error',
        });
        return { response, text: await readText(response) };
      });
      return readData(name, answer.response, answer.text);
    },
  };
}

function headersOf({ locale, localUser }: ClientOptions): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    accept: 'application/json',
    ...(locale !== undefined && { 'accept-language': locale }),
    ...(localUser !== undefined && { [LOCAL_USER_FIELD]: localUserText(localUser) }),
  };
}

async function reach<T>(
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
async function readText(response: Response): Promise<string> {
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

function readData<N extends RouteName>(name: N, response: Response, text: string): DataOf<N> {
  const details = { http: response.status, requestId: response.headers.get('x-request-id') ?? undefined };
  const opened = openEnvelope(ROUTES[name].envelope, parseJson(text));
  if (opened === undefined) {
    throw new ClientError(`HTTP ${response.status}, which is no answer of this service`, {
      kind: 'unexpected',
      ...details,
    });
  }
  const { isSuccess, status, info, data } = opened;
  if (!isSuccess) {
    // With 503 the service asks to wait too, but it may have been done.
    const retryAfter = response.status === 429 ? response.headers.get('retry-after') : undefined;
    const retryAfterSeconds = Number(retryAfter ?? undefined);
    const currentRevision = response.headers.get('x-current-revision') ?? undefined;
    const refusal = { kind: 'refused', ...details, status, code: codeOf(response), currentRevision } as const;
    throw new ClientError(info, { ...refusal, ...(retryAfterSeconds > 0 && { retryAfterSeconds }) });
  }
  if (!OPERATIONS[name].data.safeParse(data).success) {
    throw new ClientError('the answer lacks documented fields', { kind: 'unexpected', ...details, status });
  }
  // Just checked. Returned as it came: a newer service may send more fields than the schema would keep.
  return data as DataOf<N>;
}

function codeOf(response: Response): ErrorCode | undefined {
  const code = response.headers.get('x-error-code');
  return code !== null && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined; // an own key of the table
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON: the caller reports it
  }
}
