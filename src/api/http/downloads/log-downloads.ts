/** `GET /logs/…`: a day's log file of one domain, whole or in part, for any request with its signed URL. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import { findAccountOfDomain } from '#db/tables/domains.ts';
import { findDayFile } from '#logs/day-file.ts';
import { checkSignature, LOG_PATH, parseLogPath } from '#logs/download.ts';
import { type SentFile, sendJoined } from './send-joined.ts';
import {
  addSignedDownloads,
  type DownloadAnswers,
  type DownloadOptions,
  signatureProblem,
} from './signed-downloads.ts';

/** What stands behind it is for `parseLogPath` to judge. */
export const LOG_ROUTE = `${LOG_PATH}/*`;

export function addLogDownloads(app: FastifyInstance, options: DownloadOptions, answers: DownloadAnswers): void {
  addSignedDownloads(app, LOG_ROUTE, answers, async (request, reply) => {
    const found = await findFile(request, options);
    return found instanceof ServiceError ? found : await sendJoined(request, reply, found, options);
  });
}

async function findFile(
  { url }: FastifyRequest,
  { db, ring, clock }: DownloadOptions,
): Promise<SentFile | ServiceError> {
  const { pathname, searchParams } = new URL(url, 'http://control');
  const log = parseLogPath(pathname, searchParams);
  if (log === undefined) return new ServiceError('pathUnknown');
  const problem = signatureProblem(checkSignature(ring, log, clock()));
  if (problem !== undefined) return problem;
  const isOwners = (await findAccountOfDomain(db.query, log.domainId)) === log.accountId;
  const file = isOwners ? await findDayFile(db.query, log.domainId, log.day) : undefined;
  return file === undefined
    ? new ServiceError('logFileNotFound')
    : { file, name: log.name, contentType: 'application/gzip', missing: 'logFileNotFound' };
}
