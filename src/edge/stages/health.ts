/**
 * Answers probes of load balancers that ask whether this edge should get viewers. Comes before stage 2, so that no
 * domain is needed. Pure except for the state that is read. docs/decisions/0601
 */
import { formatDate } from '#http/dates.ts';
import type { parseRequest, ReceivedRequest } from '../request.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';

const HEALTH_PATH = '/.well-known/causeway/health';

export interface HealthPage {
  /** Whether a client with this address gets the page. For other clients the path is an ordinary one. */
  isFor(clientAddress: string): boolean;
  /** The edge's own state now. */
  state(): HealthState;
}

export interface HealthState {
  /** Whether the edge should get viewers. */
  readonly isReady: boolean;
  /** `ready`, or the reason why not: one word. */
  readonly word: string;
}

/**
 * Returns `undefined` if the request does not ask for the page, or may not have it. Probes need no `Host`, which some
 * balancers do not send; otherwise the request must be valid. `parsed`: the result of stage 1.
 */
export function answerHealth(
  page: HealthPage,
  { method, target, clientAddress }: Pick<ReceivedRequest, 'method' | 'target' | 'clientAddress'>,
  parsed: ReturnType<typeof parseRequest>,
  now: number,
): EdgeAnswer | undefined {
  if (target !== HEALTH_PATH || (method !== 'GET' && method !== 'HEAD')) return undefined;
  if (parsed.kind === 'invalid' && parsed.reason !== 'host') return undefined;
  if (!page.isFor(clientAddress)) return undefined;
  const { isReady, word } = page.state();
  const text = Buffer.from(`${word}\n`);
  const type = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(text.length)];
  const headers = [...type, 'Cache-Control', 'no-store', 'Date', formatDate(now)];
  const status = isReady ? 200 : 503;
  const reason = isReady ? 'OK' : 'Service Unavailable';
  return {
    status,
    reason,
    headers,
    body: { kind: 'pieces', pieces: [text] },
    mark: { status: 'OWN', reason: 'health' },
  };
}
