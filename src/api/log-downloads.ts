/** `GET /logs/…`: a day's log file of one domain, whole or in part, for any request with its signed URL. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/service-error.ts';
import { findAccountOfDomain } from '#db/domains.ts';
import type { Keyring } from '#db/keyring.ts';
import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { findDayFile } from '#logs/day-file.ts';
import { checkSignature, LOG_PATH, parseLogPath } from '#logs/download.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import { type SentFile, sendJoined } from './send-joined.ts';

export interface DownloadOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DownloadAnswers {
  refuse(request: FastifyRequest, reply: FastifyReply, error: ServiceError): Promise<FastifyReply>;
  /** A file goes out: for the log of requests. */
  note(request: FastifyRequest): void;
}

/** What stands behind it is for `parseLogPath` to judge. */
export const LOG_ROUTE = `${LOG_PATH}/*`;

export function addLogDownloads(app: FastifyInstance, options: DownloadOptions, answers: DownloadAnswers): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const found = await findFile(request, options);
    const sent = found instanceof ServiceError ? found : await sendJoined(request, reply, found, options);
    if (sent instanceof ServiceError) return await answers.refuse(request, reply, sent);
    answers.note(request);
    return sent;
  };
  app.get(LOG_ROUTE, { exposeHeadRoute: false }, answer); // that of Fastify reads the whole file
  app.head(LOG_ROUTE, answer);
}

async function findFile(
  { url }: FastifyRequest,
  { db, ring, clock }: DownloadOptions,
): Promise<SentFile | ServiceError> {
  const { pathname, searchParams } = new URL(url, 'http://control');
  const log = parseLogPath(pathname, searchParams);
  if (log === undefined) return new ServiceError('pathUnknown');
  const signature = checkSignature(ring, log, clock());
  if (signature !== 'valid') return new ServiceError(signature === 'expired' ? 'addressExpired' : 'addressInvalid');
  const isOwners = (await findAccountOfDomain(db.query, log.domainId)) === log.accountId;
  const file = isOwners ? await findDayFile(db.query, log.domainId, log.day) : undefined;
  return file === undefined
    ? new ServiceError('logFileNotFound')
    : { file, name: log.name, contentType: 'application/gzip', missing: 'logFileNotFound' };
}
