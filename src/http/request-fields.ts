/**
 * The fields of a viewer's request that may be read at all. Answers that are kept ready are given to later requests without asking
 * the stages (docs/decisions/0270), so a field that a stage reads has to be known to the readers of both versions of HTTP.
 */

/**
 * Names in lower case. `edge/shortcuts/plain-fields.ts` says what each means for a prepared answer, and the requests of
 * `test/support/edge/twins/twin-requests.ts` use each of them. docs/decisions/0415
 */
export const REQUEST_FIELDS = [
  'accept-encoding',
  'accept-language',
  'access-control-request-method',
  'authorization',
  'cache-control',
  'cdn-loop',
  'connection',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'date',
  'expect',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'max-forwards',
  'origin',
  'pragma',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'referer',
  'sec-websocket-key',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-forwarded-for',
  'x-forwarded-proto',
] as const;

export type RequestFieldName = (typeof REQUEST_FIELDS)[number];

/**
 * A request's header section. It cannot be indexed or iterated: the functions of `headers.ts` read it, by a `RequestFieldName` alone.
 * Any list of `RawHeaders` can stand for one.
 */
export type RequestHeaders = Pick<readonly string[], 'length'>;

/** The whole section, to pass it on, to log it or to compare it with a `Vary`. `test/architecture.test.ts` lists the callers. */
export function wholeSection(headers: RequestHeaders): readonly string[] {
  return headers as readonly string[]; // nothing else is ever made into one
}

/** `undefined`: nothing may read this field. */
export function readableField(name: string): RequestFieldName | undefined {
  const lower = name.toLowerCase();
  return NAMES.has(lower) ? (lower as RequestFieldName) : undefined; // it is in the set
}

const NAMES: ReadonlySet<string> = new Set(REQUEST_FIELDS);
