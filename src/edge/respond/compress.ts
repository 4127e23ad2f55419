/** Compresses answers in the coding that the client prefers. Edge rule 8 */
import { acceptsCodings, chooseCoding } from '#http/content-coding.ts';
import { isStrong, parseEntityTags } from '#http/entity-tag.ts';
import { firstValue, joinedValue, type RawHeaders } from '#http/headers.ts';
import { parseContentRange } from '#http/range.ts';
import { announcedBytes } from '#http/store.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { EdgeRequest } from '../request.ts';
import type { Holds } from '../store/holds.ts';
import type { SharedBody } from '../store/shared-body.ts';
import type { CachedResponse } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import { type CodedForm, findCoded } from './coded-form.ts';
import { codedHeaders, codedHeadersOf304, isCompressible, withVary } from './compressible.ts';
import type { AnswerBody, EdgeAnswer } from './edge-answer.ts';
import type { FetchRest } from './follow-body.ts';
import { streamUnread } from './stream.ts';

/** `request`: as the client sent it. */
export type Asked = Omit<Visit, 'absentUpTo'>;

/** Returns the compressed answer; if it cannot be compressed now, the answer as it is, with `Vary`. */
export async function compressAnswer(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Asked,
  answer: EdgeAnswer,
): Promise<EdgeAnswer> {
  const { request } = asked;
  const { response, status } = answer;
  if (response === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return answer;
  if (response.status === 304) return { ...answer, headers: headersOfForeign304(request, answer.headers) };
  if (!isCompressible({ ...response, bodyBytes: completeBytes(answer) })) return answer;
  const plain = { ...answer, headers: withVary(answer.headers) };
  const coding = codingFor(request);
  if (coding === undefined || (status !== 200 && status !== 304)) return plain;
  if (status === 304) return { ...answer, headers: codedHeadersOf304(plain.headers) };
  const coder = {
    viewer,
    edge,
    holds: asked.holds,
    form: { siteId: asked.site.id, key: asked.key, options: asked.options, coding },
  };
  const coded = request.method === 'HEAD' ? await codeHead(coder, plain) : await codeBody(coder, plain);
  if (coded === undefined) return forOnce(plain);
  const { bytes, ...given } = coded;
  return { ...answer, headers: codedHeaders(plain.headers, coding, bytes), ...given };
}

/** Marks the answer as not to be kept ready: the next one may be compressed again. */
function forOnce(answer: EdgeAnswer): EdgeAnswer {
  if (answer.stored === undefined) return answer;
  const { place: _, ...stored } = answer.stored;
  return { ...answer, stored };
}

/** Whether the response has a coding that the client does not accept, so that the cache has nothing for it. */
export function isUnreadable({ headers }: EdgeRequest, { response, status }: EdgeAnswer): boolean {
  const coding =
    response === undefined || status === 304 ? undefined : joinedValue(response.headers, 'content-encoding');
  return coding !== undefined && !acceptsCodings(joinedValue(headers, 'accept-encoding'), coding);
}

/** Chooses the coding for a request. None for HTTP/1.0, where a truncated body without a length looks complete. */
function codingFor({ httpVersion, headers, facts }: EdgeRequest) {
  if (httpVersion === '1.0' || facts.range !== undefined || facts.directives?.noTransform === true) return undefined;
  return chooseCoding(joinedValue(headers, 'accept-encoding'));
}

interface Coding {
  readonly viewer: Viewer;
  readonly edge: EdgeContext;
  readonly holds: Holds;
  readonly form: Omit<CodedForm, 'of'>;
}

interface CodedBody {
  readonly body: AnswerBody;
  /** Length, if it is known. */
  readonly bytes?: number;
  /** Absent if it is the same as for the original body. */
  readonly isFromDisk?: boolean;
}

/** Returns the coded body's head for HEAD: its size is known only if the coded form is stored. RFC 9110 §9.3.2 */
async function codeHead({ edge, holds, form }: Coding, { body, stored }: EdgeAnswer): Promise<CodedBody> {
  const found = stored && (await findCoded(edge.store, { ...form, of: stored }, stored.body.sizeBytes, holds));
  return found === undefined ? { body } : { body, bytes: found.body.sizeBytes };
}

/** Returns `undefined` if the body is not to be coded. */
async function codeBody(coder: Coding, { body, stored }: EdgeAnswer): Promise<CodedBody | undefined> {
  const { viewer, edge, form } = coder;
  const { compressions } = edge;
  switch (body.kind) {
    case 'pieces':
      return stored && codeStored(coder, stored);
    case 'shared': {
      const { shared, fetchRest } = body;
      const source = { kind: 'shared', bodyBytes: shared.bodyBytes, shared, fetchRest } as const;
      return asShared(compressions.share({ ...form, of: shared.stored }, source, viewer));
    }
    case 'stream': {
      const { stream, fill } = body;
      if (fill === undefined) {
        const coded = compressions.wrap(form, stream);
        return coded && { body: { kind: 'stream', stream: coded, fill } };
      }
      const { shared, fetchRest = nowhere } = fill;
      if (shared === undefined) return undefined;
      const source = { kind: 'shared', bodyBytes: shared.bodyBytes, shared, fetchRest } as const;
      const coded = compressions.share({ ...form, of: shared.stored }, source, viewer);
      // From here on, this client reads the shared body like later ones.
      if (coded !== undefined) void streamUnread(stream, fill, edge); // never rejects
      return asShared(coded);
    }
    default:
      return undefined;
  }
}

async function codeStored(
  { viewer, edge, holds, form }: Coding,
  stored: CachedResponse,
): Promise<CodedBody | undefined> {
  const { body } = stored;
  const wanted = { ...form, of: stored };
  const joined = edge.compressions.join(wanted, viewer);
  if (joined !== undefined) return asShared(joined);
  const found = await findCoded(edge.store, wanted, body.sizeBytes, holds);
  if (found === undefined) {
    const source = { kind: 'stored', bodyBytes: body.sizeBytes, body } as const;
    return asShared(edge.compressions.share(wanted, source, viewer));
  }
  const bytes = found.body.sizeBytes;
  const piece = { body: found.body, span: { first: 0, last: bytes - 1 } };
  return { body: { kind: 'pieces', pieces: [piece] }, bytes, isFromDisk: found.isFromDisk };
}

function asShared(shared: SharedBody | undefined): CodedBody | undefined {
  return shared && { body: { kind: 'shared', shared, fetchRest: nowhere } };
}

/** The origin does not have the coded body. */
const nowhere: FetchRest = async () => undefined;

/** Returns the length of the whole body, if it is known. */
function completeBytes({ response, stored }: EdgeAnswer): number | undefined {
  if (stored !== undefined) return stored.range?.complete ?? stored.body.sizeBytes;
  if (response?.status === 206) return parseContentRange(firstValue(response.headers, 'content-range') ?? '')?.complete;
  return response && announcedBytes(response.headers);
}

/**
 * Adapts the origin's own 304, which does not show which body the client has: one that sent the weak tag has the coded
 * one.
 */
function headersOfForeign304({ facts }: EdgeRequest, headers: RawHeaders): RawHeaders {
  const tag = firstValue(headers, 'etag');
  const named = parseEntityTags(facts.ifNoneMatch ?? '');
  if (tag === undefined || !isStrong(tag) || named === '*' || named.includes(tag)) return headers;
  return named.includes(`W/${tag}`) ? codedHeadersOf304(withVary(headers)) : headers;
}
