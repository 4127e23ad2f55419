/** Transport of a session over TCP or TLS. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { CarrierAddress } from '#model/sms-connector.ts';
import type { Transport } from './session.ts';

export interface SocketEvents {
  opened(): void;
  received(octets: Buffer): void;
  closed(reason: string): void;
}

/** Backpressure: reading stops while the carrier leaves this many octets unread. */
const MAX_UNREAD_OCTETS = 1024 * 1024;
/**
 * Idle time after which the system asks whether the other side is there. Otherwise a protocol without such a question
 * would send parts into a connection that a firewall has forgotten, and leave them in doubt.
 */
const KEEP_ALIVE_MS = 60_000;
/** Time for written bytes to be sent. */
const END_MS = 1_000;

export function openSocket(address: CarrierAddress, events: SocketEvents): Transport {
  const socket = dial(address);
  socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
  socket.on(address.tls === undefined ? 'connect' : 'secureConnect', events.opened);
  return attach(socket, events);
}

/** Reads and writes a socket. */
export function attach(socket: Socket, events: Omit<SocketEvents, 'opened'>): Transport {
  let reason = 'by the carrier';
  let isStopped = false;
  socket.on('error', (error) => {
    reason = error.message;
  });
  socket.on('close', () => events.closed(reason));
  const readOn = () => {
    if (!isStopped && socket.writableLength <= MAX_UNREAD_OCTETS) socket.resume();
  };
  socket.on('data', events.received).on('drain', readOn);
  let unwritten: Buffer[] = [];
  const flush = () => {
    if (unwritten.length > 0 && socket.writable) socket.write(Buffer.concat(unwritten));
    unwritten = [];
    if (socket.writableLength > MAX_UNREAD_OCTETS) socket.pause();
  };
  return {
    write(octets) {
      // All PDUs of one turn of the event loop are one write.
      if (unwritten.length === 0) process.nextTick(flush);
      unwritten.push(octets);
    },
    hold(isHeld) {
      isStopped = isHeld;
      if (isHeld) socket.pause();
      else readOn();
    },
    end() {
      flush();
      socket.destroySoon();
      const timer = setTimeout(() => socket.destroy(), END_MS);
      socket.once('close', () => clearTimeout(timer));
    },
  };
}

function dial({ host, port, tls }: CarrierAddress): Socket {
  if (tls === undefined) return connect({ host, port });
  const ca = tls.ca === undefined ? {} : { ca: tls.ca };
  // An IP address is not sent as server name, but Node checks it against the certificate all the same.
  const servername = tls.serverName ?? (isIP(host) === 0 ? host : undefined);
  return connectTls({ host, port, ...(servername !== undefined && { servername }), ...ca });
}
