/** Joins two connections: relays bytes in both directions with backpressure, until either end is gone. */
import type { Socket } from 'node:net';

export interface TunnelLimits {
  /** Limit without a byte in either direction. */
  readonly idleMs: number;
  /** Limit without progress while bytes wait for an end. */
  readonly stallMs: number;
  /** Limit without a byte after one end has closed its side. */
  readonly endedMs: number;
  /** Time between two checks whether the connection is still allowed. */
  readonly checkMs: number;
}

/** The connection that the client is joined to. */
export interface FarEnd {
  readonly origin: Socket;
  readonly isAllowed: () => boolean;
}

/** Resolves when the client's connection is closed. Both are closed in the end. Never rejects. */
export async function runTunnel(client: Socket, { origin, isAllowed }: FarEnd, limits: TunnelLimits): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('close', () => resolve());
  origin.allowHalfOpen = true; // an end that has closed its side may still receive
  const quiet = { ms: limits.idleMs };
  relay(client, origin, quiet, limits);
  relay(origin, client, quiet, limits);
  const timer = setInterval(() => {
    if (!isAllowed()) client.destroy();
  }, limits.checkMs);
  await promise;
  clearInterval(timer);
}

/** Relays one direction. `quiet` is shared by both directions: the idle limit of an end that keeps up. */
function relay(from: Socket, to: Socket, quiet: { ms: number }, { stallMs, endedMs }: TunnelLimits): void {
  from.setTimeout(quiet.ms);
  from.on('timeout', () => from.destroy());
  from.on('error', () => undefined); // 'close' follows
  from.on('data', (chunk: Buffer) => {
    if (to.write(chunk)) return;
    from.pause();
    to.setTimeout(stallMs);
  });
  to.on('drain', () => {
    to.setTimeout(quiet.ms);
    from.resume();
  });
  from.on('end', () => {
    quiet.ms = endedMs;
    for (const socket of [from, to]) socket.setTimeout(endedMs);
    to.end();
  });
  from.on('close', () => to.destroySoon()); // after the bytes that it had sent
  if (from.destroyed) to.destroySoon();
  from.resume();
}
