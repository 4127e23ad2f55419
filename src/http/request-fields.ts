/**
 * The request fields that code may read. Prepared answers serve requests without running the stages
 * (docs/decisions/0270), so the readers of both HTTP versions must know every field that a stage reads.
 */

/**
 * Names in lower case. `edge/shortcuts/plain-fields.ts` defines what each means for a prepared answer, and the requests
 * of `test/support/edge/twins/twin-requests.ts` use each of them. docs/decisions/0415
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
 * A request's header section. It cannot be indexed or iterated: the functions of `headers.ts` read it, by
 * `RequestFieldName` only. Any `RawHeaders` can be used as one.
 */
export type RequestHeaders = Pick<readonly string[], 'length'>;

/**
 * Returns the whole section, for forwarding, logging, or comparison with `Vary`. `test/architecture.test.ts` lists the
 * callers.
 */
export function wholeSection(headers: RequestHeaders): readonly string[] {
  return headers as readonly string[]; // nothing else is ever converted to this type
}

/**
 * Returns the name in lower case; `undefined` if no code may read the field. The few names of a length are compared, and
 * the text is always the same one: looking up a new string in a `Map` or `Set` internalizes it, which takes longer.
 */
export function readableField(name: string): RequestFieldName | undefined {
  const candidates = BY_LENGTH[name.length];
  if (candidates === undefined) return undefined;
  const lower = name.toLowerCase();
  for (const candidate of candidates) if (candidate === lower) return candidate;
  return undefined;
}

const BY_LENGTH = Array.from({ length: Math.max(...REQUEST_FIELDS.map(({ length }) => length)) + 1 }, (_, length) =>
  REQUEST_FIELDS.filter((name) => name.length === length),
);
