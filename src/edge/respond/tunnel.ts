/** Two connections as one: what each end sends goes to the other, at the other's pace, until either is gone. */
import type { Socket } from 'node:net';

export interface TunnelLimits {
  /** Limit without a byte in either direction. */
  readonly idleMs: number;
  /** While an end takes nothing of what is there for it. */
  readonly stallMs: number;
  /** Limit without a byte after one end has closed its side. */
  readonly endedMs: number;
  /** Time between two checks whether the connection is still allowed. */
  readonly checkMs: number;
}

/** What the client is joined to. */
export interface FarEnd {
  readonly origin: Socket;
  readonly isAllowed: () => boolean;
}

/** Resolves when the client's connection is closed. In the end both are, whatever happens to either. Never rejects. */
export async function runTunnel(client: Socket, { origin, isAllowed }: FarEnd, limits: TunnelLimits): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('close', () => resolve());
  origin.allowHalfOpen = true; // an end that has said all may still listen
  const quiet = { ms: limits.idleMs };
  relay(client, origin, quiet, limits);
  relay(origin, client, quiet, limits);
  const timer = setInterval(() => {
    if (!isAllowed()) client.destroy();
  }, limits.checkMs);
  await promise;
  clearInterval(timer);
}

/** One direction. `quiet` is shared by both: the limit of an end that keeps up. */
function relay(from: Socket, to: Socket, quiet: { ms: number }, { stallMs, endedMs }: TunnelLimits): void {
  from.setTimeout(quiet.ms);
  from.on('timeout', () => from.destroy());
  from.on('error', () => undefined); // shows as closed
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
  from.on('close', () => to.destroySoon()); // what it had sent still arrives
  if (from.destroyed) to.destroySoon();
  from.resume();
}
