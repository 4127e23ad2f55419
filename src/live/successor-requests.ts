/**
 * Answers the live process that takes over from this one: what is on air here, and whether another publisher may have a
 * stream. docs/decisions/0608
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LiveReport } from '#feed/wire/live-report.ts';
import { readBody } from '#lib/read-body.ts';
import { isBroadcastId, parseStreamKey } from '#sites/live.ts';
import type { Owner } from './owner.ts';
import type { Predecessor } from './predecessor.ts';
import { refuse } from './refuse.ts';

export interface SuccessorQuestions {
  readonly owner: Owner;
  predecessor(): Predecessor | undefined;
  /** Lists the broadcasts on air, here and at the predecessor. */
  statuses(): Promise<NonNullable<LiveReport['streams']>>;
}

interface Asked {
  readonly pathname: string;
  readonly isDraining: boolean;
}

/** Broadcasts in one message. */
const MAX_DISOWN_BYTES = 1024 * 1024;

/** Answers a request of the successor. Returns false for all other requests, which it leaves alone. */
export async function answerSuccessor(
  questions: SuccessorQuestions,
  { pathname, isDraining }: Asked,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const [, key] = /^\/streams\/([^/]+\/[^/]+\/[^/]+)\/release$/.exec(pathname) ?? [];
  if (request.method === 'GET' && pathname === '/statuses') {
    request.resume();
    if (isDraining) giveStatuses(await questions.statuses(), response);
    else refuse(response, 409);
    return true;
  }
  if (request.method !== 'POST') return false;
  if (key !== undefined) {
    request.resume();
    refuse(response, await release(questions, key));
    return true;
  }
  if (pathname !== '/disown') return false;
  const body = await readBody(request, MAX_DISOWN_BYTES);
  if (body !== undefined) disown(questions, body.toString('utf8'));
  refuse(response, body === undefined ? 413 : 204);
  return true;
}

function giveStatuses(statuses: NonNullable<LiveReport['streams']>, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(statuses));
}

/** Returns 204 if another publisher may have the stream, else 409. */
async function release({ owner, predecessor }: SuccessorQuestions, key: string): Promise<number> {
  const name = parseStreamKey(key);
  if (name === undefined) return 404;
  if (!owner.release(name)) return 409;
  const earlier = predecessor();
  return earlier?.has(name) === true && !(await earlier.releases(name)) ? 409 : 204;
}

function disown({ owner, predecessor }: SuccessorQuestions, text: string): void {
  const broadcasts: unknown = JSON.parse(text);
  if (!Array.isArray(broadcasts)) return;
  const ids = broadcasts.filter((id) => typeof id === 'string' && isBroadcastId(id));
  owner.disown(ids);
  predecessor()?.disown(ids);
}
