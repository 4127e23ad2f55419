/** Connections whose handshake is not done: bounded in number and time, each counted once with what became of it. docs/decisions/0292 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Handshake } from '../../reasons.ts';
import type { Secured } from '../../secured.ts';
import { lingerAtEnd } from '../linger.ts';

export interface WaitingRoomOptions {
  /** Handshakes at once; beyond it the oldest ends: in a flood of silent connections, that is one of those. */
  readonly maxHandshakes: number;
  /** Limit of one whole handshake. */
  readonly handshakeMs: number;
  onHandshake(handshake: Handshake): void;
  /** A connection has closed, whatever became of its handshake. */
  onClosed(): void;
}

export interface WaitingRoom {
  enter(raw: Socket): void;
  /** Lets `handshake` begin, which will have settled this. */
  secure(raw: Socket, secured: Promised, handshake: () => void): void;
  /** The handshake that calls is done, and the connection goes on decrypted; `undefined`: it is no longer here. */
  leave(socket: TLSSocket): Begun | undefined;
  /** Ends the connection, with `alert` as its last bytes; what still comes is read and forgotten for a while. */
  end(raw: Socket, handshake: Handshake, alert?: Buffer): void;
  /** The connection goes on without a handshake, until it ends or `cutAll` ends it. `false`: it has ended. */
  release(raw: Socket, handshake: Handshake): boolean;
  cutAll(): void;
}

type Promised = Omit<Secured, 'version' | 'reset'>;

interface Begun {
  readonly raw: Socket;
  readonly secured: Promised;
}

export function createWaitingRoom({
  maxHandshakes,
  handshakeMs,
  onHandshake,
  onClosed,
}: WaitingRoomOptions): WaitingRoom {
  /** Waiting sockets with the time that each has; the oldest first. */
  const waiting = new Map<Socket, number>();
  /**
   * Node does not say from which connection a decrypted one was made, but calls in the context that it was made in. Emptied when
   * the handshake is done: whatever the connection's requests leave running has that context too.
   */
  const contexts = new AsyncLocalStorage<{ begun: Begun | undefined }>();
  let timer: NodeJS.Timeout | undefined;

  /** That are ending in order. */
  const leaving = new Set<Socket>();
  const letLeave = (raw: Socket): void => {
    leaving.add(raw);
    raw.once('close', () => leaving.delete(raw));
  };

  const remove = (raw: Socket): boolean => {
    if (!waiting.delete(raw)) return false;
    if (waiting.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    return true;
  };

  const end = (raw: Socket, handshake: Handshake, alert?: Buffer): void => {
    if (!remove(raw)) return;
    onHandshake(handshake);
    if (alert === undefined) return void raw.destroy();
    letLeave(raw);
    lingerAtEnd(raw, handshakeMs);
    raw.end(alert);
    raw.destroySoon();
  };

  const endSlow = (): void => {
    const now = performance.now();
    for (const [raw, endsAt] of waiting) {
      if (endsAt > now) return;
      end(raw, 'timeout');
    }
  };

  const endOldest = (): void => {
    const [oldest] = waiting.keys();
    if (oldest !== undefined) end(oldest, 'crowded');
  };

  return {
    enter: (raw) => {
      waiting.set(raw, performance.now() + handshakeMs);
      timer ??= setInterval(endSlow, handshakeMs / ROUNDS);
      raw.once('close', () => {
        end(raw, 'failed');
        onClosed();
      });
      if (waiting.size > maxHandshakes) endOldest();
    },
    secure: (raw, secured, handshake) => contexts.run({ begun: { raw, secured } }, handshake),
    leave: (socket) => {
      const context = contexts.getStore();
      const begun = context?.begun;
      if (context === undefined || begun === undefined || !speaksFor(begun.secured, socket)) return undefined;
      context.begun = undefined;
      return remove(begun.raw) ? begun : undefined;
    },
    end,
    release: (raw, handshake) => {
      if (!remove(raw)) return false;
      onHandshake(handshake);
      letLeave(raw);
      return true;
    },
    cutAll: () => {
      for (const raw of waiting.keys()) end(raw, 'failed');
      for (const raw of leaving) raw.destroy();
    },
  };
}

/** OpenSSL's word against ours, so that no fault can take one customer's connection for another's. */
function speaksFor({ serverName, covers }: Promised, socket: TLSSocket): boolean {
  // Of a session of TLS 1.2 that is taken up it says no name, or the one that the session began with.
  if (typeof socket.servername !== 'string') return socket.isSessionReused();
  const host = socket.servername.toLowerCase().replace(/\.$/, '');
  return host === serverName || covers(host);
}

/** One timer looks after all, so many times in the longest time, which is kept to within one of them. */
const ROUNDS = 10;
