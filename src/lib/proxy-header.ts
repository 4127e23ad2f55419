/** Waits for the PROXY protocol header of a trusted proxy's connection, which precedes the client's own bytes. */
import type { Socket } from 'node:net';
import { type ProxyHeader, readProxyHeader } from './proxy-protocol.ts';

export type AnnouncedClient = Extract<ProxyHeader, { kind: 'header' }>;

/** Why a trusted proxy's connection was ended: no header in time, or an invalid one. */
export type ProxyHeaderFailure = 'timeout' | 'malformed';

type Outcome =
  | AnnouncedClient
  | { readonly kind: 'failed'; readonly failure: ProxyHeaderFailure }
  | { readonly kind: 'gone' };

/**
 * Calls `done` once. Bytes after the header are unshifted for the next listener, and the socket stays paused. Do not
 * resume it if TLS begins on it: Node would read past TLS.
 */
export function receiveProxyHeader(socket: Socket, timeoutMs: number, done: (outcome: Outcome) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const settle = (outcome: Outcome): void => {
    clearTimeout(timer);
    socket.off('data', onData).off('end', onGone).off('close', onGone).off('error', ignore);
    if (outcome.kind !== 'header') socket.on('error', ignore).destroy();
    done(outcome);
  };
  const onData = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    const header = readProxyHeader(bytes);
    if (header.kind === 'incomplete') return;
    if (header.kind === 'header') {
      socket.pause();
      socket.unshift(bytes.subarray(header.sizeBytes));
      settle(header);
    } else {
      settle({ kind: 'failed', failure: 'malformed' });
    }
  };
  const onGone = (): void => settle({ kind: 'gone' });
  const timer = setTimeout(() => settle({ kind: 'failed', failure: 'timeout' }), timeoutMs);
  socket.on('data', onData).on('end', onGone).on('close', onGone).on('error', ignore);
}

function ignore(): void {} // shows as closed
