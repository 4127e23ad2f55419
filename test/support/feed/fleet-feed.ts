/**
 * Control's side of the feed for edges on other machines: a listener with mutual TLS that takes each client's
 * certificate for the edge that it names. What the fleet's own listener checks besides is not here.
 */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ControlLink, type EdgeCredentials, openFleetLink } from '#feed/client/control-link.ts';
import type { Peer } from '#feed/publish/peer.ts';
import type { RequestHandler } from '#feed/server/request-handler.ts';
import type { TestAuthority } from '../certificates/certificate.ts';

const CONTROL_NAME = 'control.test.causeway.internal';

export interface FleetListener extends AsyncDisposable {
  /** `https://127.0.0.1:port`. */
  readonly address: string;
  /** Paths of all requests, with their edge. */
  readonly requests: readonly string[];
}

export interface FleetOptions {
  readonly authority: TestAuthority;
  readonly handle: RequestHandler;
  /** Group of each edge; absent: `default`. */
  readonly groups?: Readonly<Record<string, string>>;
  readonly port?: number;
}

export async function startFleetListener(options: FleetOptions): Promise<FleetListener> {
  const { authority, handle, groups = {}, port = 0 } = options;
  const requests: string[] = [];
  const server: Server = createServer(
    {
      ...authority.issue([CONTROL_NAME]),
      ca: authority.ca,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
    },
    (request, response) => {
      // `as`: a connection of this server.
      const { subjectaltname = '', serialNumber } = (request.socket as TLSSocket).getPeerCertificate();
      const edge = subjectaltname.replace('DNS:', '');
      requests.push(`${edge} ${request.method} ${request.url?.split('?')[0]}`);
      const peer: Peer = { kind: 'edge', edge, serial: serialNumber.toLowerCase(), group: groups[edge] ?? 'default' };
      void handle(request, response, peer); // it never rejects
    },
  );
  await once(server.listen(port, '127.0.0.1'), 'listening');
  // `as`: a TCP server that listens has such an address.
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The identity of an edge under the test's authority. */
export function makeCredentials(authority: TestAuthority, edge: string): EdgeCredentials {
  const own = authority.issue([edge]);
  const { serialNumber } = new X509Certificate(own.cert);
  return {
    edge,
    fleet: 'test',
    serial: serialNumber.toLowerCase(),
    sealKey: generateKeyPairSync('x25519').privateKey,
    fields: {},
    tls: () => ({ ...own, ca: authority.ca, servername: CONTROL_NAME, minVersion: 'TLSv1.3' }),
  };
}

export function linkTo(controls: readonly string[], credentials: EdgeCredentials): ControlLink {
  return openFleetLink({ controls, credentials: () => credentials, random: Math.random });
}
