/**
 * `GET /previews/…`: a live stream as HTTP-FLV, for the session of a browser that has asked for it with `live.preview`.
 * That call is made again, when it is opened and while it is played: it ends when the call would be refused. docs/decisions/0702
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { UrlSignature } from '#logs/signed-query.ts';
import { type CallAnswer, isPassing } from '../call-answer.ts';
import type { AnswerCall, ReceivedCall } from '../calls/calls.ts';
import type { Requester } from '../calls/requester.ts';
import { groupsOf } from '../handlers/checks.ts';
import {
  checkPreviewSignature,
  PREVIEW_PATH,
  type PreviewAddress,
  parsePreviewPath,
} from '../previews/preview-address.ts';
import type { Previews } from '../previews/previews.ts';
import type { DownloadOptions } from './downloads/signed-downloads.ts';
import { endWithClient } from './end-with-client.ts';

/** What stands behind it is for `parsePreviewPath` to judge. */
export const PREVIEW_ROUTE = `${PREVIEW_PATH}/*`;

export interface PreviewRoute extends Pick<DownloadOptions, 'db' | 'ring' | 'clock'> {
  readonly answerCall: AnswerCall;
  readonly previews: Previews;
  readonly requesterOf: (request: FastifyRequest) => Requester;
  send(request: FastifyRequest, reply: FastifyReply, answer: CallAnswer | ServiceError): Promise<FastifyReply>;
  /** Sets what the request's line in the log will say. */
  note(request: FastifyRequest, answer: CallAnswer): void;
}

const FIELDS = {
  'content-type': 'video/x-flv',
  'cache-control': 'private, no-store',
  'x-accel-buffering': 'no', // nginx passes media on as they come
};

export function addPreviewRoute(app: FastifyInstance, route: PreviewRoute): void {
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const { send, note } = route;
    const admitted = await admit(route, request);
    if (admitted instanceof ServiceError || admitted.answer.outcome !== 'ok')
      return await send(request, reply, admitted instanceof ServiceError ? admitted : admitted.answer);
    const body = request.method === 'HEAD' ? undefined : await open(route, admitted);
    if (body instanceof ServiceError) return await send(request, reply, body);
    note(request, admitted.answer);
    if (body !== undefined) endWithClient(request.raw.socket, body);
    return await reply.headers(FIELDS).send(body);
  };
  app.get(PREVIEW_ROUTE, { exposeHeadRoute: false }, handle); // that of Fastify would read the stream
  app.head(PREVIEW_ROUTE, handle);
}

interface Admitted {
  readonly asked: PreviewAddress & UrlSignature;
  /** The call that allows the preview, and what it was answered. */
  readonly call: ReceivedCall;
  readonly answer: CallAnswer;
}

async function admit(
  { answerCall, requesterOf, ring, clock }: PreviewRoute,
  request: FastifyRequest,
): Promise<Admitted | ServiceError> {
  const { pathname, searchParams } = new URL(request.url, 'http://control');
  const asked = parsePreviewPath(pathname, searchParams);
  if (asked === undefined) return new ServiceError('pathUnknown');
  const state = checkPreviewSignature(ring, asked, clock());
  if (state !== 'valid') return new ServiceError(state === 'expired' ? 'previewExpired' : 'previewInvalid');
  const body = { domain: asked.domain, app_name: asked.app, stream_name: asked.stream };
  const call = {
    name: 'live.preview',
    body,
    requester: asCaller(requesterOf(request)),
    requestId: request.id,
  } as const;
  const answer = await answerCall(call);
  if (answer.outcome === 'ok' && !isOfSession(answer, asked)) return new ServiceError('previewInvalid');
  return { asked, call, answer };
}

async function open({ answerCall, previews, db, clock }: PreviewRoute, { asked, call, answer }: Admitted) {
  const { sessionId, domainId, app, stream, expires } = asked;
  return await previews.open({
    sessionId,
    accountId: answer.by?.accountId,
    stream: { domainId, app, stream },
    groups: await groupsOf({ db }, domainId),
    limitMs: expires * 1000 - clock(),
    whyEnded: async () => {
      const again = await answerCall(call);
      if (again.outcome === 'ok') return isOfSession(again, asked) ? undefined : 'changed';
      return isPassing(again) ? undefined : again.outcome;
    },
  });
}

/** A GET has no body, whose type tells a call of the console; `Sec-Fetch-Site` and the cookie are judged as ever. */
function asCaller(requester: Requester): Requester {
  return { ...requester, browser: { ...requester.browser, contentType: 'application/json' } };
}

/** Whether the cookie is that of the session that was given the address. */
function isOfSession({ by }: CallAnswer, { sessionId }: PreviewAddress): boolean {
  return by?.sessionId === sessionId;
}
