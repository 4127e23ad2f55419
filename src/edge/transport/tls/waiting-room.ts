/**
 * Connections whose handshake is not complete: bounded in number and time, and each counted once with its outcome.
 * docs/decisions/0292
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Handshake } from '../../reasons.ts';
import type { Secured } from '../../secured.ts';
import { lingerAtEnd } from '../linger.ts';

export interface WaitingRoomOptions {
  /**
   * Limit of concurrent handshakes. Beyond it the oldest connection ends: in a flood of silent connections, that is one
   * of them.
   */
  readonly maxHandshakes: number;
  /** Limit of one whole handshake. */
  readonly handshakeMs: number;
  onHandshake(handshake: Handshake): void;
  /** A connection has closed, whatever became of its handshake. */
  onClosed(): void;
}

export interface WaitingRoom {
  enter(raw: Socket): void;
  /** Starts `handshake`; `leave` returns `secured` when it is complete. */
  secure(raw: Socket, secured: Promised, handshake: () => void): void;
  /**
   * Called from within a completed handshake, whose connection continues decrypted. Returns `undefined` if the
   * connection is no longer waiting.
   */
  leave(socket: TLSSocket): Begun | undefined;
  /** Ends the connection with `alert` as its last bytes. Further input is read and discarded for a while. */
  end(raw: Socket, handshake: Handshake, alert?: Buffer): void;
  /**
   * Lets the connection continue without a handshake, until it ends or `cutAll` ends it. Returns false if it has ended.
   */
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
  /** Waiting sockets with their deadlines (`performance.now()`), oldest first. */
  const waiting = new Map<Socket, number>();
  /**
   * Node does not tell which raw connection a decrypted one belongs to, but its callback runs in the async context of
   * the handshake. The context is emptied when the handshake is complete, since later requests of the connection run in
   * it, too.
   */
  const contexts = new AsyncLocalStorage<{ begun: Begun | undefined }>();
  let timer: NodeJS.Timeout | undefined;

  /** Sockets that are ending gracefully. */
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

/** Compares OpenSSL's server name with ours, so that no bug can assign a connection to another customer. */
function speaksFor({ serverName, covers }: Promised, socket: TLSSocket): boolean {
  // For a resumed TLS 1.2 session there is no name, or the name of the original session.
  if (typeof socket.servername !== 'string') return socket.isSessionReused();
  const host = socket.servername.toLowerCase().replace(/\.$/, '');
  return host === serverName || covers(host);
}

/** Checks of the shared timer per handshake limit: a limit is exceeded by a tenth at most. */
const ROUNDS = 10;
