/** One probe of one origin, through the same guarded connector as requests. Edge rule 2 */
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { type CdnName, SERVICE_NAME } from '../origin-headers.ts';
import { type Connect, ConnectError } from './connector.ts';
import type { ProbeOutcome, ProbeTarget } from './probe-schedule.ts';
import { MAX_RESPONSE_HEAD_BYTES } from './response-limits.ts';

/** Limit for the connection, and again for the answer. */
export const PROBE_TIMEOUT_MS = 5_000;

/** Never rejects. Neither reads the answer's body nor follows redirects. */
export async function probeOrigin(
  { destination, request: asked }: ProbeTarget,
  connect: Connect,
  cdn: CdnName,
): Promise<ProbeOutcome> {
  let socket: Socket;
  try {
    socket = await connect(destination);
  } catch (error) {
    return outcomeOf(error);
  }
  socket.on('error', () => undefined); // the request reports it, or it no longer matters
  if (asked !== undefined) return askStatus(socket, asked, cdn);
  socket.destroy();
  return 'up';
}

function outcomeOf(error: unknown): ProbeOutcome {
  if (!(error instanceof ConnectError) || error.failure === 'noSocket') return 'unclear';
  return error.failure === 'originForbidden' ? 'forbidden' : 'down';
}

function askStatus(
  socket: Socket,
  { host, target }: NonNullable<ProbeTarget['request']>,
  cdn: CdnName,
): Promise<ProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProbeOutcome>();
  const asking = request({
    createConnection: () => socket,
    method: 'GET',
    path: target,
    // If the request returns to this service, it is recognized as a loop. RFC 8586
    headers: ['Host', host, 'User-Agent', `${SERVICE_NAME}-probe`, 'CDN-Loop', cdn.id, 'Connection', 'close'],
    maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  });
  asking.on('error', () => resolve('down'));
  asking.on('close', () => resolve('down')); // no effect after a response
  asking.on('response', ({ statusCode = 0 }) => {
    resolve(statusCode >= 200 && statusCode < 400 ? 'up' : 'down');
    asking.destroy();
  });
  asking.end();
  return promise;
}
