/** Connections whose handshake is not done: bounded in number and time, each counted once with what became of it. */
import type { Socket } from 'node:net';
import type { Secured } from './secured.ts';

/** How a connection began, or why it did not. */
export type Handshake =
  | 'full'
  | 'resumed'
  /** The client names no host. */
  | 'noServerName'
  /** No site has the host, or the site has no HTTPS. */
  | 'unknownServerName'
  /** The site's certificate is not here, cannot be used, or does not cover the host. */
  | 'noCertificate'
  /** What came is not TLS. */
  | 'notTls'
  | 'timeout'
  /** Ended to make room for newer ones. */
  | 'crowded'
  /** The client broke off or refused the certificate, or there is no version or cipher that both have. */
  | 'failed';

export interface WaitingRoomOptions {
  /** Beyond it the oldest ends: in a flood of connections that say nothing, that is one of those. */
  readonly maxHandshakes: number;
  /** For the whole of one. */
  readonly handshakeMs: number;
  onHandshake(handshake: Handshake): void;
}

export interface WaitingRoom {
  enter(raw: Socket): void;
  /** What its handshake will have settled. */
  secure(raw: Socket, secured: Promised): void;
  /** The handshake is done, and the connection goes on as `socket`; `undefined`: it is no longer here. */
  leave(socket: Socket): { readonly raw: Socket; readonly secured: Promised } | undefined;
  /** Ends the connection, with `alert` as its last bytes. */
  end(raw: Socket, handshake: Handshake, alert?: Buffer): void;
  cutAll(): void;
}

type Promised = Omit<Secured, 'version' | 'reset'>;

interface Waiting {
  readonly timer: NodeJS.Timeout;
  readonly ends: string;
  secured?: Promised;
}

export function createWaitingRoom({ maxHandshakes, handshakeMs, onHandshake }: WaitingRoomOptions): WaitingRoom {
  /** The oldest first. */
  const waiting = new Map<Socket, Waiting>();
  /** Node does not say from which connection a decrypted one was made; their two ends are the same. */
  const byEnds = new Map<string, Socket>();

  const remove = (raw: Socket): Waiting | undefined => {
    const entry = waiting.get(raw);
    if (entry === undefined) return undefined;
    clearTimeout(entry.timer);
    waiting.delete(raw);
    if (byEnds.get(entry.ends) === raw) byEnds.delete(entry.ends);
    return entry;
  };
  const end = (raw: Socket, handshake: Handshake, alert?: Buffer): void => {
    if (remove(raw) === undefined) return;
    onHandshake(handshake);
    if (alert === undefined) raw.destroy();
    else raw.end(alert, () => raw.destroy());
  };

  return {
    enter: (raw) => {
      if (raw.remoteAddress === undefined) return void raw.destroy(); // gone before it was taken
      const timer = setTimeout(end, handshakeMs, raw, 'timeout' satisfies Handshake);
      const ends = endsOf(raw);
      waiting.set(raw, { timer, ends });
      byEnds.set(ends, raw);
      raw.once('close', () => end(raw, 'failed'));
      const [oldest] = waiting.keys();
      if (waiting.size > maxHandshakes && oldest !== undefined) end(oldest, 'crowded');
    },
    secure: (raw, secured) => {
      const entry = waiting.get(raw);
      if (entry !== undefined) entry.secured = secured;
    },
    leave: (socket) => {
      // A peer that has gone meanwhile has no address any more.
      const raw = socket.remoteAddress === undefined ? undefined : byEnds.get(endsOf(socket));
      const secured = raw && remove(raw)?.secured;
      return secured && raw && { raw, secured };
    },
    end,
    cutAll: () => {
      for (const raw of waiting.keys()) end(raw, 'failed');
    },
  };
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
