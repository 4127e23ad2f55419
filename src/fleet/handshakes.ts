/** Connections in their TLS handshake, bounded in number and time. */
import type { Socket } from 'node:net';
import { unmapAddress } from '#lib/cidr.ts';

export interface HandshakeLimits {
  /** Limit of concurrent handshakes: beyond it the oldest is cut. */
  readonly max: number;
  /** Time for the whole handshake. */
  readonly timeMs: number;
}

export interface Handshakes {
  /**
   * A handshake begins on `raw`. `client`: the address that a trusted proxy has announced; absent: that of the socket.
   * Returns false if the connection is gone already.
   */
  begin(raw: Socket, client: string | undefined): boolean;
  /** The handshake is complete. Returns the client's address; `undefined` if the connection has been cut. */
  end(secured: Socket): string | undefined;
  cutAll(): void;
}

interface Handshake {
  readonly raw: Socket;
  readonly client: string;
  readonly timer: NodeJS.Timeout;
}

export function createHandshakes({ max, timeMs }: HandshakeLimits): Handshakes {
  const open = new Map<string, Handshake>();
  const take = (key: string): Handshake | undefined => {
    const handshake = open.get(key);
    open.delete(key);
    clearTimeout(handshake?.timer);
    return handshake;
  };
  const cut = (key: string): void => void take(key)?.raw.destroy();
  return {
    begin(raw, client) {
      const key = endsOf(raw);
      if (key === undefined) return false;
      const [oldest] = open.keys();
      if (open.size >= max && oldest !== undefined) cut(oldest);
      const timer = setTimeout(() => cut(key), timeMs);
      const handshake = { raw, timer, client: client ?? unmapAddress(raw.remoteAddress ?? '') };
      open.set(key, handshake);
      raw.once('close', () => {
        if (open.get(key) === handshake) take(key);
      });
      return true;
    },
    end(secured) {
      const key = endsOf(secured);
      return key === undefined ? undefined : take(key)?.client;
    },
    cutAll() {
      for (const key of [...open.keys()]) cut(key);
    },
  };
}

/** Node does not expose the connection below a TLS socket, but both have the same addresses and ports. */
function endsOf({ remoteAddress, remotePort, localPort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort} ${localPort}`;
}
