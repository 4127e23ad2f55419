/** Makes the answer from a stored response: whole, in part, 304 or 416. Pure; the boundary is passed in. */
import { STATUS_CODES } from 'node:http';
import type { RequestFacts } from '#http/stored.ts';
import { answerFromStored } from '#http/stored-answer.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { CacheMark } from '../reasons.ts';
import type { SharedBody } from '../store/shared-body.ts';
import type { CachedResponse } from '../store/store.ts';
import { type AnswerBody, type EdgeAnswer, NO_BODY } from './edge-answer.ts';
import type { FetchRest } from './follow-body.ts';

export interface StoredAnswerInput {
  readonly request: RequestFacts;
  readonly stored: CachedResponse;
  readonly mark: CacheMark;
  readonly now: number;
  /** See `AnswerInput.boundary`. */
  readonly boundary: string;
}

/** Stored responses are complete, so each can answer any range. */
export function storedAnswer({ request, stored, mark, now, boundary }: StoredAnswerInput): EdgeAnswer {
  const { body } = stored;
  const answer = answerFromStored(request, stored, { now, bodyBytes: body.sizeBytes, boundary });
  const give = (status: number, content: AnswerBody): EdgeAnswer => {
    const reason = status === stored.status ? stored.reason : (STATUS_CODES[status] ?? '');
    const headers = answer.kind === 'uncovered' ? [] : answer.headers;
    return {
      status,
      reason,
      headers,
      body: request.method === 'HEAD' ? NO_BODY : content,
      mark,
      response: stored,
      stored,
    };
  };
  switch (answer.kind) {
    case 'full':
      return give(stored.status, { kind: 'pieces', pieces: [{ body, span: { first: 0, last: body.sizeBytes - 1 } }] });
    case 'notModified':
      return give(304, NO_BODY);
    case 'partial':
      return give(206, { kind: 'pieces', pieces: [{ body, span: answer.span }] });
    case 'multipart': {
      const parts = answer.parts.flatMap(({ head, span }) => [Buffer.from(head, 'latin1'), { body, span }]);
      return give(206, { kind: 'pieces', pieces: [...parts, Buffer.from(answer.tail, 'latin1')] });
    }
    case 'unsatisfiable':
      return give(416, NO_BODY);
    case 'uncovered':
      throw new Error('only whole responses are stored');
    default:
      return unreachable(answer);
  }
}

/**
 * Answers a GET of the whole from a body in transit: with the head as if it were stored, and the body as it arrives.
 */
export function sharedAnswer(
  request: RequestFacts,
  { shared, fetchRest }: { readonly shared: SharedBody; readonly fetchRest: FetchRest },
  mark: CacheMark,
  now: number,
): EdgeAnswer {
  const { stored, bodyBytes } = shared;
  const answer = answerFromStored(request, stored, { now, bodyBytes, boundary: '' });
  if (answer.kind === 'notModified') {
    return {
      status: 304,
      reason: 'Not Modified',
      headers: answer.headers,
      body: NO_BODY,
      mark,
      response: stored,
      admitted: stored,
    };
  }
  if (answer.kind !== 'full') throw new Error('a GET without a range is answered whole');
  return {
    status: stored.status,
    reason: stored.reason,
    headers: answer.headers,
    body: { kind: 'shared', shared, fetchRest },
    mark,
    response: stored,
    admitted: stored,
  };
}
