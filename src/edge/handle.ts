/**
 * A viewer's request from first byte to log line, top to bottom: the eleven stages of docs/edge.md. What a stage decides
 * is in its own file; here is only their order.
 */
import { unreachable } from '#lib/unreachable.ts';
import { checkAccess } from './access.ts';
import { describeRequest } from './access-log.ts';
import { answerMiss, answerPastCache, answerStored, answerValidated } from './answers.ts';
import { cacheKey } from './cache-key.ts';
import type { EdgeContext } from './context.ts';
import { decideRequest } from './decide.ts';
import { planRequest } from './plan.ts';
import { parseRequest } from './request.ts';
import type { EdgeAnswer } from './respond/answer.ts';
import { errorAnswer } from './respond/error-page.ts';
import { sendAnswer } from './respond/send.ts';
import type { Viewer } from './viewer.ts';

/** Resolves when the answer is out, or the client is gone, and the line is written. Never rejects. */
export async function handle(viewer: Viewer, edge: EdgeContext): Promise<void> {
  const startedAt = edge.clock();
  let answer: EdgeAnswer | undefined;
  try {
    answer = await answerRequest(viewer, edge);
    if (answer !== undefined) await sendAnswer(viewer, answer, edge); // 10
  } catch (error) {
    edge.log.error({ err: error, host: viewer.host, target: viewer.received.target }, 'request failed');
    answer = errorAnswer(500, { status: 'ERROR', reason: 'internal' }, edge.clock(), true);
    if (viewer.statusSent === 0) await sendAnswer(viewer, answer, edge);
    else viewer.cut();
  }
  if (viewer.refusal !== undefined)
    answer = errorAnswer(viewer.refusal.status, { status: 'ERROR', reason: viewer.refusal.reason }, edge.clock());
  const record = describeRequest(viewer, answer, startedAt, edge.clock()); // 11
  edge.metrics.countRequest(answer?.mark, record.status, record.responseBytes);
  edge.writeLog(record);
}

/** `undefined`: there is nobody to answer any more. */
async function answerRequest(viewer: Viewer, edge: EdgeContext): Promise<EdgeAnswer | undefined> {
  const now = edge.clock();

  const request = parseRequest(viewer.received); // 1
  if (request.kind === 'invalid') {
    const { status, reason } = request;
    return errorAnswer(status, { status: 'ERROR', reason }, now, status === 400 || status === 501);
  }

  const site = edge.sites.find(request.host); // 2
  if (site === undefined) return errorAnswer(403, { status: 'DENIED', reason: 'unknownHost' }, now);
  viewer.noteHost(request.host);

  const access = checkAccess(site); // 3
  if (access.kind === 'deny') return errorAnswer(403, { status: 'DENIED', reason: access.reason }, now);

  const key = cacheKey(site, request); // 4
  const plan = planRequest(site, request); // 5
  const { options } = plan;
  if (plan.kind === 'bypass') {
    return answerPastCache(viewer, edge, { request, site, key, options, invalidatedAt: undefined }, plan.reason); // 8
  }

  const entry = await edge.store.find(key); // 6
  const { decision, others } = decideRequest(entry, request.facts, now, options); // 7
  const visit = { request, site, key, options, invalidatedAt: entry?.invalidatedAt };
  switch (decision.kind) {
    case 'hit':
      return answerStored(visit, decision.stored, 'HIT', now);
    case 'stale':
      if (decision.shouldRevalidate) edge.refreshes.start(edge, visit, decision.stored);
      return answerStored(visit, decision.stored, 'STALE', now);
    case 'gatewayTimeout':
      return errorAnswer(504, { status: 'ERROR', reason: 'onlyIfCached' }, now);
    case 'revalidate':
      return answerValidated(viewer, edge, visit, decision.stored); // 8, 9
    case 'miss':
    case 'complete': // parts are not stored yet
      return answerMiss(viewer, edge, visit, others); // 8, 9
    case 'bypass': // stage 5 has asked the same question
      return answerPastCache(viewer, edge, visit, decision.reason);
    default:
      return unreachable(decision);
  }
}
