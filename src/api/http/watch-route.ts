/**
 * `POST /event/watch`: a call like any other until it succeeds; then its answer is a stream. The call is made again now
 * and then: a stream ends when it would be refused. docs/decisions/0671
 */
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTES } from '#contract/routes.ts';
import { parsePosition } from '#model/hint.ts';
import { type CallAnswer, isPassing } from '../call-answer.ts';
import type { AnswerCall } from '../calls/calls.ts';
import type { Requester } from '../calls/requester.ts';
import type { WatchStream } from '../watch/watch-stream.ts';
import type { Watches } from '../watch/watches.ts';
import { readWatch } from '../wire/wire-watch.ts';
import { fieldsOf } from './answer-fields.ts';
import { endWithClient } from './end-with-client.ts';

export interface WatchRoute {
  readonly answerCall: AnswerCall;
  readonly watches: Watches;
  readonly requesterOf: (request: FastifyRequest) => Requester;
  send(request: FastifyRequest, reply: FastifyReply, answer: CallAnswer | ServiceError): Promise<FastifyReply>;
  /** Sets what the request's line in the log will say. */
  note(request: FastifyRequest, answer: CallAnswer): void;
}

const NAME = 'event.watch';
const STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no', // nginx passes events on as they come
};

export function addWatchRoute(app: FastifyInstance, route: WatchRoute): void {
  app.post(ROUTES[NAME].path, async (request, reply) => {
    const { answerCall, requesterOf, send, note } = route;
    const call = { name: NAME, body: request.body, requester: requesterOf(request), requestId: request.id } as const;
    const answer = await answerCall(call);
    if (answer.outcome !== 'ok') return await send(request, reply, answer);
    const stream = await open(route, answer, call);
    if (stream instanceof ServiceError) return await send(request, reply, stream);
    note(request, answer);
    endWithClient(request.raw.socket, stream.body);
    return await reply.headers({ ...fieldsOf(answer, request.id), ...STREAM }).send(stream.body);
  });
}

async function open(
  { answerCall, watches }: WatchRoute,
  answer: CallAnswer,
  call: Parameters<AnswerCall>[0],
): Promise<WatchStream | ServiceError> {
  const ready = dataOf(answer);
  const { name, after, ...watcher } = readWatch(ready);
  const whyEnded = async () => {
    const again = await answerCall(call);
    if (again.outcome === 'ok') return isDeepStrictEqual(dataOf(again), ready) ? undefined : 'changed';
    return isPassing(again) ? undefined : again.outcome;
  };
  return await watches.open({ name, watcher, after: parsePosition(after), ready, whyEnded });
}

function dataOf({ body }: CallAnswer) {
  return OPERATIONS[NAME].data.parse('data' in body ? body.data : undefined);
}
