/** What downloads under signed addresses have in common: the routes, and what a bad signature is answered. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { SignatureState } from '#logs/signed-query.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';

export interface DownloadOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DownloadAnswers {
  refuse(request: FastifyRequest, reply: FastifyReply, error: ServiceError): Promise<FastifyReply>;
  /** Notified when a file is sent, for the request log. */
  note(request: FastifyRequest): void;
}

/** `answer` sends the file of a request, or returns the error. */
export function addSignedDownloads(
  app: FastifyInstance,
  route: string,
  { refuse, note }: DownloadAnswers,
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | ServiceError>,
): void {
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const sent = await answer(request, reply);
    if (sent instanceof ServiceError) return await refuse(request, reply, sent);
    note(request);
    return sent;
  };
  app.get(route, { exposeHeadRoute: false }, handle); // that of Fastify reads the whole file
  app.head(route, handle);
}

/** `undefined`: the signature holds. */
export function signatureProblem(state: SignatureState): ServiceError | undefined {
  if (state === 'valid') return undefined;
  return new ServiceError(state === 'expired' ? 'addressExpired' : 'addressInvalid');
}
