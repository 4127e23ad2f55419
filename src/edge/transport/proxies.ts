/**
 * Determines the client of a connection and its requests: the TCP peer, or the client that a trusted proxy names, by
 * the PROXY protocol or in fields of each request. Other peers are not believed. Edge rule 6
 */
import type { Server, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { allValues, joinedValue, listMembers } from '#http/headers.ts';
import type { RequestHeaders } from '#http/request-fields.ts';
import { createAddressSet, unmapAddress } from '#lib/cidr.ts';
import { clientAddress } from '#lib/client-address.ts';
import { type AnnouncedClient, type ProxyHeaderFailure, receiveProxyHeader } from '#lib/proxy-header.ts';

export interface Client {
  readonly address: string;
  /** Whether the client's own connection uses TLS, be it to us or to a trusted proxy. */
  readonly isTls: boolean;
}

export interface Proxies {
  /** The client's address, before or without a request. */
  addressOf(socket: Socket): string;
  clientOf(socket: Socket, headers: RequestHeaders): Client;
  /**
   * The client of all requests of a connection; `undefined` for a trusted proxy, whose requests may have different
   * clients.
   */
  onlyClientOf(socket: Socket): Client | undefined;
  /** The connection continues as `to`, decrypted. */
  passOn(from: Socket, to: TLSSocket): void;
  /** Size of the PROXY header at the start of the connection; 0 without one. */
  headerBytesOf(socket: Socket): number;
  /** Holds connections of trusted proxies back from the server's own listeners until their header has arrived. */
  standBefore(server: Server): void;
  /** Ends connections whose header has not arrived. */
  cutWaiting(): void;
}

export interface ProxiesOptions {
  readonly trusted: readonly string[];
  /** `required`: connections of trusted proxies must begin with a PROXY header. */
  readonly protocol: 'off' | 'required';
  /** Time for the whole header. */
  readonly headerMs: number;
  readonly onFailure: (failure: ProxyHeaderFailure) => void;
}

export function createProxies({ trusted: networks, protocol, headerMs, onFailure }: ProxiesOptions): Proxies {
  const trusted = createAddressSet(networks);
  const announced = new WeakMap<Socket, AnnouncedClient>();
  const waiting = new Set<Socket>();
  const addressOf = (socket: Socket) => announced.get(socket)?.client ?? unmapAddress(socket.remoteAddress ?? '');

  const receive = (socket: Socket, pass: () => void): void => {
    waiting.add(socket);
    receiveProxyHeader(socket, headerMs, (outcome) => {
      waiting.delete(socket);
      if (outcome.kind === 'failed') onFailure(outcome.failure);
      if (outcome.kind !== 'header') return;
      announced.set(socket, outcome);
      pass();
      socket.resume();
    });
  };

  const onlyClientOf = (socket: Socket): Client | undefined => {
    const address = addressOf(socket);
    if (networks.length > 0 && trusted.has(address)) return undefined;
    return { address, isTls: socket instanceof TLSSocket };
  };

  return {
    addressOf,
    onlyClientOf,
    clientOf: (socket, headers) => {
      const only = onlyClientOf(socket);
      if (only !== undefined) return only;
      const forwardedFor = joinedValue(headers, 'x-forwarded-for');
      return {
        address: clientAddress(addressOf(socket), forwardedFor, trusted),
        isTls: isForwardedTls(headers) ?? socket instanceof TLSSocket,
      };
    },
    passOn: (from, to) => {
      const known = announced.get(from);
      if (known !== undefined) announced.set(to, { ...known, sizeBytes: 0 });
    },
    headerBytesOf: (socket) => announced.get(socket)?.sizeBytes ?? 0,
    standBefore: (server) => {
      if (protocol === 'off') return;
      const listeners = server.listeners('connection');
      server.removeAllListeners('connection');
      server.on('connection', (socket: Socket) => {
        const pass = () => {
          for (const listener of listeners) Reflect.apply(listener, server, [socket]);
        };
        const address = addressOf(socket);
        // The client reset the connection before we accepted it, as some health checks do, so its address is unknown.
        if (address === '') socket.on('error', ignore).destroy();
        else if (trusted.has(address)) receive(socket, pass);
        else pass();
      });
    },
    cutWaiting: () => {
      for (const socket of waiting) socket.destroy();
    },
  };
}

/** Returns true only if all values are `https`: otherwise one of the connections was plain. */
function isForwardedTls(headers: RequestHeaders): boolean | undefined {
  const schemes = listMembers(allValues(headers, 'x-forwarded-proto'));
  if (schemes.length === 0) return undefined;
  return schemes.every((scheme) => scheme === 'https');
}

function ignore(): void {} // shows as closed
