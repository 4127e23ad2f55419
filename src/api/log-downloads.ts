/** `GET /logs/…`: a day's log file of one domain, whole or in part, for any request with its signed URL. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/service-error.ts';
import { findAccountOfDomain } from '#db/domains.ts';
import type { Keyring } from '#db/keyring.ts';
import type { Db } from '#db/open.ts';
import { isStrongMatch, isWeakMatch, parseEntityTags } from '#http/entity-tag.ts';
import { trimOws } from '#http/headers.ts';
import { formatContentRange, formatUnsatisfiedRange, parseRange, resolveRange } from '#http/range.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type DayFile, findDayFile, readDayFile } from '#logs/day-file.ts';
import { checkSignature, LOG_PATH, parseLogPath } from '#logs/download.ts';
import { BlobMissing, type BlobStore, type ByteSpan } from '#logs/store/blob-store.ts';

export interface LogDownloadOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface LogDownloadAnswers {
  refuse(request: FastifyRequest, reply: FastifyReply, error: ServiceError): Promise<FastifyReply>;
  /** A file goes out: for the log of requests. */
  note(request: FastifyRequest): void;
}

/** What stands behind it is for `parseLogPath` to judge. */
export const LOG_ROUTE = `${LOG_PATH}/*`;

export function addLogDownloads(app: FastifyInstance, options: LogDownloadOptions, answers: LogDownloadAnswers): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const found = await findFile(request, options);
    const sent = found instanceof ServiceError ? found : await sendFile(request, reply, found, options);
    if (sent instanceof ServiceError) return await answers.refuse(request, reply, sent);
    answers.note(request);
    return sent;
  };
  app.get(LOG_ROUTE, { exposeHeadRoute: false }, answer); // that of Fastify reads the whole file
  app.head(LOG_ROUTE, answer);
}

type Found = DayFile & { readonly name: string };

async function findFile(
  { url }: FastifyRequest,
  { db, ring, clock }: LogDownloadOptions,
): Promise<Found | ServiceError> {
  const { pathname, searchParams } = new URL(url, 'http://control');
  const log = parseLogPath(pathname, searchParams);
  if (log === undefined) return new ServiceError('pathUnknown');
  const signature = checkSignature(ring, log, clock());
  if (signature !== 'valid') return new ServiceError(signature === 'expired' ? 'addressExpired' : 'addressInvalid');
  const isOwners = (await findAccountOfDomain(db.query, log.domainId)) === log.accountId;
  const file = isOwners ? await findDayFile(db.query, log.domainId, log.day) : undefined;
  return file === undefined ? new ServiceError('logFileNotFound') : { ...file, name: log.name };
}

async function sendFile(
  { headers, method, id }: FastifyRequest,
  reply: FastifyReply,
  file: Found,
  { blobs, log }: LogDownloadOptions,
): Promise<FastifyReply | ServiceError> {
  const { bytes, name, etag } = file;
  const always = { ...ALWAYS, etag };
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
  const body = method === 'HEAD' ? undefined : await openBody(blobs, file, { start: first, end: last + 1 });
  if (body instanceof ServiceError) return body;
  body?.on('error', (error) => log.error({ err: error, requestId: id, file: name }, 'a log file was not sent whole'));
  if (span !== undefined) reply.code(206).header('content-range', formatContentRange(span, bytes));
  reply.headers({
    ...always,
    'content-disposition': `attachment; filename="${name}"`,
    'content-length': last - first + 1,
    'content-type': 'application/gzip',
  });
  return await reply.send(body);
}

type Headers = FastifyRequest['headers'];

/** A status that is the whole answer, or `answer`. RFC 9110 §13.2.2; there is no date of the last change to compare with. */
function evaluateConditions(headers: Headers, etag: string): 412 | 304 | 'answer' {
  const [ifMatch, ifNoneMatch] = [headers['if-match'], headers['if-none-match']];
  if (ifMatch !== undefined && !isListed(ifMatch, (tag) => isStrongMatch(tag, etag))) return 412;
  if (ifNoneMatch !== undefined && isListed(ifNoneMatch, (tag) => isWeakMatch(tag, etag))) return 304;
  return 'answer';
}

function isListed(field: string, isMatch: (tag: string) => boolean): boolean {
  const tags = parseEntityTags(field);
  return tags === '*' || tags.some(isMatch);
}

/** RFC 9110 §13.1.5 */
function doesIfRangeHold(ifRange: string | string[] | undefined, etag: string): boolean {
  return ifRange === undefined || (typeof ifRange === 'string' && isStrongMatch(trimOws(ifRange), etag));
}

const ALWAYS = { 'accept-ranges': 'bytes', 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' };

/** When its first bytes are here: until then there can be another answer. */
async function openBody(blobs: BlobStore, file: DayFile, span: ByteSpan): Promise<Readable | ServiceError> {
  const body = Readable.from(readDayFile(blobs, file, span), { objectMode: false });
  try {
    await once(body, 'readable');
    return body;
  } catch (error) {
    if (error instanceof BlobMissing) return new ServiceError('logFileNotFound');
    throw error;
  }
}
