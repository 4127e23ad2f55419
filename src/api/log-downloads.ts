/** `GET /logs/…`: a day's log file of one domain, whole or in part, for whoever has its signed address. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors.ts';
import { findAccountOfDomain } from '#db/domains.ts';
import type { Keyring } from '#db/keyring.ts';
import type { Db } from '#db/open.ts';
import { formatContentRange, formatUnsatisfiedRange, parseRange, resolveRange } from '#http/range.ts';
import type { Clock } from '#lib/clock.ts';
import { type DayFile, findDayFile, readDayFile } from '#logs/day-file.ts';
import { checkSignature, LOG_PATH, parseLogPath } from '#logs/download.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';

export interface LogDownloadOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

export interface LogDownloadAnswers {
  refuse(request: FastifyRequest, reply: FastifyReply, error: ServiceError): Promise<FastifyReply>;
  /** A file goes out: for the log of requests. */
  note(request: FastifyRequest): void;
}

/** What stands behind it is for `parseLogPath` to judge. */
export const LOG_ROUTE = `${LOG_PATH}/*`;

export function addLogDownloads(app: FastifyInstance, options: LogDownloadOptions, answers: LogDownloadAnswers): void {
  app.get(LOG_ROUTE, async (request, reply) => {
    const found = await findFile(request, options);
    if (found instanceof ServiceError) return await answers.refuse(request, reply, found);
    answers.note(request);
    return await sendFile(request, reply, found, options.blobs);
  });
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
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: Found,
  blobs: BlobStore,
): Promise<FastifyReply> {
  const { bytes, name } = file;
  reply.headers({
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `attachment; filename="${name}"`,
    'content-type': 'application/gzip',
    'x-content-type-options': 'nosniff',
  });
  // Nothing could match If-Range: the file has no validator, for today's grows. RFC 9110 §13.1.5
  const ranges = headers['if-range'] === undefined ? parseRange(headers.range ?? '') : undefined;
  const [range] = ranges?.length === 1 ? ranges : [];
  const span = range && resolveRange(range, bytes);
  if (range !== undefined && span === undefined) {
    return await reply.code(416).header('content-range', formatUnsatisfiedRange(bytes)).send();
  }
  if (span !== undefined) reply.code(206).header('content-range', formatContentRange(span, bytes));
  const { first, last } = span ?? { first: 0, last: bytes - 1 };
  reply.header('content-length', last - first + 1);
  // To HEAD Fastify gives the head of it.
  const chunks = readDayFile(blobs, file, { start: first, end: last + 1 });
  return await reply.send(Readable.from(chunks, { objectMode: false }));
}
