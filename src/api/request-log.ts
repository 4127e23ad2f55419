/** One log line and one count per request of control, written when its answer is out: who did what to which domain. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '#lib/logger.ts';
import type { Answer } from './answer.ts';
import type { ApiMetrics } from './metrics.ts';

interface AnsweredRequest {
  readonly path: string;
  readonly address: string;
  readonly answer: Answer;
}

export interface RequestLog {
  /** What the line of this request will say. */
  note(request: FastifyRequest, answered: AnsweredRequest): void;
  /** Writes the line, once. */
  write(request: FastifyRequest, reply: FastifyReply): void;
}

/** Longer paths are none of ours and are cut in the log. */
const MAX_PATH_CHARS = 200;

/** `quietPaths` are asked all the time: logged at debug while all is well. */
export function createRequestLog(log: Logger, metrics: ApiMetrics, quietPaths: readonly string[]): RequestLog {
  const notes = new WeakMap<FastifyRequest, AnsweredRequest>();
  return {
    note: (request, answered) => notes.set(request, answered),
    write: (request, reply) => {
      const answered = notes.get(request);
      if (answered === undefined) return;
      notes.delete(request);
      const { answer, path } = answered;
      metrics.count(answer.operation, answer.outcome, reply.elapsedTime);
      const level = quietPaths.includes(path) && answer.outcome === 'ok' ? 'debug' : 'info';
      if (log.isLevelEnabled(level)) log[level](describe(request, reply, answered), 'request');
    },
  };
}

function describe(request: FastifyRequest, reply: FastifyReply, { answer, path, address }: AnsweredRequest) {
  const { operation, outcome, http, by } = answer;
  return {
    requestId: request.id,
    ...(operation === undefined ? { path: path.slice(0, MAX_PATH_CHARS) } : { operation }),
    outcome,
    http,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    address,
    accountId: by?.accountId,
    tokenId: by?.id,
    domainId: domainOf(request.body) ?? domainOf('data' in answer.body ? answer.body.data : undefined),
  };
}

/** As a request or an answer names it; `undefined` for what is no id. */
function domainOf(members: unknown): number | undefined {
  if (typeof members !== 'object' || members === null || !('domain_id' in members)) return undefined;
  const id = String(members.domain_id);
  return /^\d{1,10}$/.test(id) ? Number(id) : undefined;
}
