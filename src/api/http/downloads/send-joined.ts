/** Sends a file out of the store over HTTP: whole or a range of it, with conditions. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import { isStrongMatch } from '#http/entity-tag.ts';
import { trimOws } from '#http/headers.ts';
import { formatContentRange, formatUnsatisfiedRange, parseRange, resolveRange } from '#http/range.ts';
import type { Logger } from '#lib/logger.ts';
import { BlobMissing, type BlobSpan, type BlobStore } from '#logs/store/blob-store.ts';
import { type JoinedFile, readJoined } from '#logs/store/joined.ts';
import { evaluateConditions } from '../conditions.ts';

export interface SentFile {
  readonly file: JoinedFile;
  /** The name in the log, and the name of the saved file unless `isAttachment` is false. */
  readonly name: string;
  readonly isAttachment?: boolean;
  readonly contentType: string;
  /** The error code when the bytes are missing from the store. */
  readonly missing: 'logFileNotFound' | 'recordingNotFound';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Throws when the store fails before the first byte. */
export async function sendJoined(
  { headers, method, id }: FastifyRequest,
  reply: FastifyReply,
  sent: SentFile,
  { blobs, log }: { readonly blobs: BlobStore; readonly log: Logger },
): Promise<FastifyReply | ServiceError> {
  const { file, name, contentType, isAttachment = true } = sent;
  const { bytes, etag } = file;
  const always = { ...ALWAYS, ...sent.headers, etag };
  const condition = evaluateConditions(headers, etag);
  if (condition !== 'answer') return await reply.code(condition).headers(always).send();
  const isRanged = method === 'GET' && doesIfRangeHold(headers['if-range'], etag); // RFC 9110 §14.2
  const ranges = isRanged ? parseRange(headers.range ?? '') : undefined;
  const [range] = ranges?.length === 1 ? ranges : [];
  const span = range && resolveRange(range, bytes);
  if (range !== undefined && span === undefined) {
    return await reply
      .code(416)
      .headers({ ...always, 'content-range': formatUnsatisfiedRange(bytes) })
      .send();
  }
  const { first, last } = span ?? { first: 0, last: bytes - 1 };
  const body = await openBody(blobs, sent, { start: first, end: last + 1 });
  if (body instanceof ServiceError) return body;
  body.on('error', (error) => log.error({ err: error, requestId: id, file: name }, 'download aborted'));
  if (span !== undefined) reply.code(206).header('content-range', formatContentRange(span, bytes));
  reply.headers({
    ...always,
    ...(isAttachment && { 'content-disposition': `attachment; filename="${name}"` }),
    'content-length': last - first + 1,
    'content-type': contentType,
  });
  if (method !== 'HEAD') return await reply.send(body);
  body.destroy(); // it has shown that the bytes are there
  return await reply.send();
}

/** RFC 9110 §13.1.5 */
function doesIfRangeHold(ifRange: string | string[] | undefined, etag: string): boolean {
  return ifRange === undefined || (typeof ifRange === 'string' && isStrongMatch(trimOws(ifRange), etag));
}

const ALWAYS = { 'accept-ranges': 'bytes', 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' };

/** When its first bytes are here: until then there can be another answer. */
async function openBody(
  blobs: BlobStore,
  { file, missing }: SentFile,
  span: BlobSpan,
): Promise<Readable | ServiceError> {
  const body = Readable.from(readJoined(blobs, file, span), { objectMode: false });
  try {
    await once(body, 'readable');
    return body;
  } catch (error) {
    if (error instanceof BlobMissing) return new ServiceError(missing);
    throw error;
  }
}
