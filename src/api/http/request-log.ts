/**
 * One log line and one count per request of control, written when its answer has been sent: caller, operation and
 * domain.
 */
import type { Logger } from '#lib/logger.ts';
import type { CallAnswer } from '../call-answer.ts';
import type { ApiMetrics } from './metrics.ts';

export interface AnsweredRequest {
  readonly requestId: string;
  readonly path: string;
  readonly address: string;
  readonly answer: CallAnswer;
  /** Parsed JSON; `undefined` without one. */
  readonly body: unknown;
  readonly durationMs: number;
}

export type WriteRequestLog = (request: AnsweredRequest) => void;

/** Longer paths are none of ours and are cut in the log. */
const MAX_PATH_CHARS = 200;

/** Asked all the time: logged at debug while all is well. */
export const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz'];

export function createRequestLog(log: Logger, metrics: ApiMetrics): WriteRequestLog {
  return (request) => {
    const { answer, path, durationMs } = request;
    metrics.count(answer.operation, answer.outcome, durationMs);
    metrics.countLimit(answer.outcome, answer.by?.accountId);
    const level = HEALTH_PATHS.includes(path) && answer.outcome === 'ok' ? 'debug' : 'info';
    if (log.isLevelEnabled(level)) log[level](describe(request), 'request');
  };
}

function describe({ requestId, answer, path, address, body, durationMs }: AnsweredRequest) {
  const { operation, outcome, http, by } = answer;
  return {
    requestId,
    ...(operation === undefined ? { path: path.slice(0, MAX_PATH_CHARS) } : { operation }),
    outcome,
    http,
    durationMs: Math.round(durationMs * 10) / 10,
    address,
    accountId: by?.accountId,
    tokenId: by?.tokenId,
    ...(by?.sessionId !== undefined && { personId: by.personId, sessionId: by.sessionId }),
    domainId: domainOf(body) ?? domainOf('data' in answer.body ? answer.body.data : undefined),
  };
}

/** Id of the domain that a request or an answer names; `undefined` if it is not an id. */
function domainOf(members: unknown): number | undefined {
  if (typeof members !== 'object' || members === null || !('domain_id' in members)) return undefined;
  const id = String(members.domain_id);
  return /^\d{1,10}$/.test(id) ? Number(id) : undefined;
}
