/**
 * Joins two connections that carry WebSocket: relays bytes in both directions with backpressure, until either end is
 * gone.
 */
import type { Socket } from 'node:net';
import { FrameBoundary } from './frame-boundary.ts';

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

export interface Tunnels {
  readonly limits: TunnelLimits;
  /** `end`: sends close frames to both ends. Returns a function to be called when the tunnel has ended. */
  enter(end: () => void): () => void;
}

/** The connection that the client is joined to. */
export interface FarEnd {
  readonly origin: Socket;
  readonly isAllowed: () => boolean;
}

/** Resolves when the client's connection is closed. Both are closed in the end. Never rejects. */
export async function runTunnel(client: Socket, { origin, isAllowed }: FarEnd, tunnels: Tunnels): Promise<void> {
  const { limits } = tunnels;
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('close', () => resolve());
  origin.allowHalfOpen = true; // an end that has closed its side may still receive
  const quiet = { ms: limits.idleMs };
  const toOrigin = relay(client, origin, quiet, limits);
  const toClient = relay(origin, client, quiet, limits);
  const leave = tunnels.enter(() => {
    if (toClient.isBetweenFrames && !client.writableEnded) client.end(GOING_AWAY);
    if (toOrigin.isBetweenFrames && !origin.writableEnded) origin.end(GOING_AWAY_MASKED);
  });
  const timer = setInterval(() => {
    if (!isAllowed()) client.destroy();
  }, limits.checkMs);
  await promise;
  clearInterval(timer);
  leave();
}

/** Close frames with the status 1001: the endpoint goes away. RFC 6455 §7.4.1. That of a client is masked, here with 0. */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);
const GOING_AWAY_MASKED = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9]);

/**
 * Relays one direction, and returns where its frames end. `quiet` is shared by both directions: the idle limit of an end
 * that keeps up.
 */
function relay(from: Socket, to: Socket, quiet: { ms: number }, { stallMs, endedMs }: TunnelLimits): FrameBoundary {
  const boundary = new FrameBoundary();
  from.setTimeout(quiet.ms);
  from.on('timeout', () => from.destroy());
  from.on('error', () => undefined); // 'close' follows
  from.on('data', (chunk: Buffer) => {
    if (to.writableEnded) return; // its close frame has been sent
    boundary.pass(chunk);
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
  return boundary;
}
