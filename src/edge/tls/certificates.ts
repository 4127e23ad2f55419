/**
 * The certificates that a worker has in use, and what does their handshakes: one of Node's TLS servers for each, made when it
 * is first asked for. They listen nowhere; connections are put into them. docs/decisions/0180
 */
import { X509Certificate } from 'node:crypto';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { Lru } from '#lib/lru.ts';
import { coverOf, handshakeOptions } from '#sites/handshake.ts';
import type { SiteSource } from '#sites/table.ts';
import type { SiteTls } from '#sites/tls.ts';
import { deriveTicketKeys, TICKET_LIFETIME_SECONDS, type TicketKeys, type TicketSecret } from './ticket-keys.ts';

export interface Certificates {
  /**
   * `missing`: it is not here; `undefined`: it is none that a client of this name would take. `ticketKeyNames`: of the tickets
   * that it brings.
   */
  find(site: TlsSite, serverName: string, ticketKeyNames: readonly string[]): Found | 'missing' | undefined;
  /** What was made for the sites of these names is made anew when it is asked for again. `undefined`: for all. */
  forget(names: readonly string[] | undefined): void;
  /** The newest first; at least one. */
  useTicketSecrets(secrets: readonly TicketSecret[]): void;
  /** Of those in memory. */
  countExpired(now: number): number;
}

interface TlsSite {
  readonly name: string;
  readonly tls: SiteTls;
}

export interface Found {
  readonly server: Server;
  /** Whether a client takes the certificate for this host: a wildcard covers one label. RFC 9525 §6.3 */
  readonly covers: (host: string) => boolean;
}

export interface CertificatesOptions {
  readonly source: Pick<SiteSource, 'getCertificate'>;
  readonly maxCertificates: number;
  readonly secrets: readonly TicketSecret[];
  onConnection(socket: TLSSocket): void;
  /** A certificate that cannot be used; told once while it is remembered. */
  onUnusable(certificate: string, error: unknown): void;
}

interface Certificate {
  readonly covers: (host: string) => boolean;
  readonly expiresAt: number;
  serverFor(ticketKeyNames: readonly string[]): Server;
}

export function createCertificates(options: CertificatesOptions): Certificates {
  const { maxCertificates, onUnusable } = options;
  let { secrets } = options;
  /** `null`: it is here and cannot be used. */
  const known = new Lru<string, Certificate | null>({ maxWeight: maxCertificates });
  /** By the names of the sites that they were asked for. */
  const uses = new Lru<string, string>({ maxWeight: maxCertificates * SITES_PER_CERTIFICATE });

  const load = (tls: SiteTls, key: string): Certificate | 'missing' | null => {
    const found = known.get(key);
    if (found !== undefined) return found;
    let certificate: Certificate | null = null;
    try {
      const opened = openCertificate(tls, options, () => secrets);
      if (opened === undefined) return 'missing';
      certificate = opened;
    } catch (error) {
      onUnusable(tls.certificate, error);
    }
    known.set(key, certificate);
    return certificate;
  };

  return {
    find: ({ name, tls }, serverName, ticketKeyNames) => {
      const key = `${tls.certificate} ${tls.minVersion}`;
      uses.set(name, key);
      const certificate = load(tls, key);
      if (certificate === 'missing') return certificate;
      if (certificate?.covers(serverName) !== true) return undefined;
      return { server: certificate.serverFor(ticketKeyNames), covers: certificate.covers };
    },
    forget: (names) => {
      if (names === undefined) return known.clear();
      for (const name of names) {
        const key = uses.get(name);
        if (key !== undefined) known.delete(key);
      }
    },
    useTicketSecrets: (next) => {
      secrets = next;
    },
    countExpired: (now) =>
      known.values().filter((certificate) => certificate !== null && certificate.expiresAt < now).length,
  };
}

/** One serves few sites that are asked for often. */
const SITES_PER_CERTIFICATE = 4;

function openCertificate(
  tls: SiteTls,
  { source, onConnection }: CertificatesOptions,
  currentSecrets: () => readonly TicketSecret[],
): Certificate | undefined {
  const pair = source.getCertificate(tls.certificate);
  if (pair === undefined) return undefined;
  const leaf = new X509Certificate(pair.certificate);
  const open = (keys: TicketKeys): Server =>
    createServer({
      ...handshakeOptions([pair], tls.minVersion),
      ALPNProtocols: ['h2', 'http/1.1', 'http/1.0'],
      ticketKeys: keys.bytes,
      sessionTimeout: TICKET_LIFETIME_SECONDS,
      sessionIdContext: 'causeway', // Node's own is made of the command line, which differs between workers
      rejectUnauthorized: false, // clients have no certificates
      handshakeTimeout: -1, // the waiting room's is over the whole of it, without a timer for each
    }).on('secureConnection', onConnection);
  const serverFor = chooseByTicket(currentSecrets, `${tls.certificate} ${tls.minVersion}`, open);
  serverFor([]); // fails here where key and chain are no good
  return {
    covers: coverOf(pair.certificate),
    expiresAt: leaf.validToDate.getTime(),
    serverFor,
  };
}

/** Node's TLS server opens tickets of one key only, so there is a server for each secret that still has tickets. */
function chooseByTicket(
  currentSecrets: () => readonly TicketSecret[],
  use: string,
  open: (keys: TicketKeys) => Server,
): Certificate['serverFor'] {
  let secrets: readonly TicketSecret[] = [];
  let choices: { readonly secret: TicketSecret; readonly keys: TicketKeys; server?: Server }[] = [];
  return (ticketKeyNames) => {
    const current = currentSecrets();
    if (current !== secrets) {
      secrets = current;
      choices = current.map(
        (secret) =>
          choices.find((known) => known.secret.secret === secret.secret) ?? {
            secret,
            keys: deriveTicketKeys(secret, use),
          },
      );
    }
    const choice = choices.find(({ keys }) => ticketKeyNames.includes(keys.name)) ?? choices[0];
    if (choice === undefined) throw new Error('there is always a secret');
    choice.server ??= open(choice.keys);
    return choice.server;
  };
}
