/**
 * The certificates that a worker has in use. Each has a TLS server of Node for its handshakes, created on first use.
 * These servers do not listen: connections are passed to them. docs/decisions/0180
 */
import { X509Certificate } from 'node:crypto';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { Lru } from '#lib/lru.ts';
import { coverOf, handshakeOptions } from '#sites/handshake.ts';
import type { SiteSource } from '#sites/table.ts';
import { certificatesOf, type SiteTls } from '#sites/tls.ts';
import { deriveTicketKeys, TICKET_LIFETIME_SECONDS, type TicketKeys, type TicketSecret } from './ticket-keys.ts';

export interface Certificates {
  /**
   * Finds the server for a site. `missing`: none of its certificates is available. `undefined`: none can be used or
   * covers the name. Of two certificates, one suffices if the other is missing or unusable. `ticketKeyNames`: key names
   * of the client's tickets.
   */
  find(site: TlsSite, serverName: string, ticketKeyNames: readonly string[]): Found | 'missing' | undefined;
  /** Drops the servers of the sites with these names; `undefined` for all sites. The next `find` creates them again. */
  forget(names: readonly string[] | undefined): void;
  /** Replaces the ticket secrets: newest first, at least one. */
  useTicketSecrets(secrets: readonly TicketSecret[]): void;
  /** Number of expired certificates in memory. */
  countExpired(now: number): number;
}

interface TlsSite {
  readonly name: string;
  readonly tls: SiteTls;
}

export interface Found {
  readonly server: Server;
  /** Whether every certificate covers this host: a wildcard covers one label. RFC 9525 §6.3 */
  readonly covers: (host: string) => boolean;
}

export interface CertificatesOptions {
  readonly source: Pick<SiteSource, 'getCertificate'>;
  readonly maxCertificates: number;
  readonly secrets: readonly TicketSecret[];
  onConnection(socket: TLSSocket): void;
  /** Called for a certificate that cannot be used, once while that result is cached. */
  onUnusable(certificate: string, error: unknown): void;
}

/** One certificate, or two with different kinds of key. */
interface Certificate {
  readonly covers: (host: string) => boolean;
  readonly expiresAt: number;
  serverFor(ticketKeyNames: readonly string[]): Server;
}

export function createCertificates(options: CertificatesOptions): Certificates {
  const { maxCertificates, source, onUnusable } = options;
  let { secrets } = options;
  /** `null`: the certificate is available but cannot be used. */
  const known = new Lru<string, Certificate | null>({ maxWeight: maxCertificates });
  /** Uses by site name. */
  const uses = new Lru<string, SiteUses>({ maxWeight: maxCertificates * SITES_PER_CERTIFICATE });
  const usesFor = ({ name, tls }: TlsSite): SiteUses => {
    const last = uses.get(name);
    if (last?.tls === tls) return last;
    const next = usesOf(tls);
    uses.set(name, next);
    return next;
  };

  const open = (keys: readonly string[], minVersion: SiteTls['minVersion']): Certificate | null => {
    try {
      return openCertificates(keys, minVersion, options, () => secrets);
    } catch (error) {
      // Of two certificates, the usable one serves.
      const usable = keys.length === 1 ? [] : keys.filter((key) => open([key], minVersion) !== null);
      if (usable.length === 1) return open(usable, minVersion);
      onUnusable(keys.join(' '), error);
      return null;
    }
  };

  const load = (keys: readonly string[], minVersion: SiteTls['minVersion']): Certificate | 'missing' | null => {
    const use = useOf(keys, minVersion);
    const found = known.get(use);
    if (found !== undefined) return found;
    const here = keys.filter((key) => source.getCertificate(key) !== undefined);
    if (here.length === 0) return 'missing';
    // Cached under its own key, so that the missing one is looked for again.
    if (here.length < keys.length) return load(here, minVersion);
    const certificate = open(keys, minVersion);
    known.set(use, certificate);
    return certificate;
  };

  return {
    find: (site, serverName, ticketKeyNames) => {
      const { keys, use } = usesFor(site);
      const certificate = known.get(use) ?? load(keys, site.tls.minVersion);
      if (certificate === 'missing') return certificate;
      if (certificate?.covers(serverName) !== true) return undefined;
      return { server: certificate.serverFor(ticketKeyNames), covers: certificate.covers };
    },
    forget: (names) => {
      if (names === undefined) return known.clear();
      for (const use of names.flatMap((name) => uses.get(name)?.all ?? [])) known.delete(use);
    },
    useTicketSecrets: (next) => {
      secrets = next;
    },
    countExpired: (now) =>
      known.values().filter((certificate) => certificate !== null && certificate.expiresAt < now).length,
  };
}

/** Cache keys of a site's certificates. */
interface SiteUses {
  readonly tls: SiteTls;
  readonly keys: readonly string[];
  /** Key of all its certificates together. */
  readonly use: string;
  /** `use`, and the key of each certificate alone. */
  readonly all: readonly string[];
}

function usesOf(tls: SiteTls): SiteUses {
  const keys = certificatesOf(tls);
  const use = useOf(keys, tls.minVersion);
  return { tls, keys, use, all: [use, ...keys.map((key) => useOf([key], tls.minVersion))] };
}

/** Cache key of everything that a handshake depends on. */
function useOf(keys: readonly string[], minVersion: SiteTls['minVersion']): string {
  return [...keys, minVersion].join(' ');
}

/** A certificate serves few sites that are often requested. */
const SITES_PER_CERTIFICATE = 4;

/** Throws if OpenSSL rejects a certificate or key. */
function openCertificates(
  certificates: readonly string[],
  minVersion: SiteTls['minVersion'],
  { source, onConnection }: CertificatesOptions,
  currentSecrets: () => readonly TicketSecret[],
): Certificate {
  const pairs = certificates.flatMap((key) => source.getCertificate(key) ?? []);
  const covers = pairs.map(({ certificate }) => coverOf(certificate));
  const open = (keys: TicketKeys): Server =>
    createServer({
      ...handshakeOptions(pairs, minVersion),
      ALPNProtocols: ['h2', 'http/1.1', 'http/1.0'],
      ticketKeys: keys.bytes,
      sessionTimeout: TICKET_LIFETIME_SECONDS,
      sessionIdContext: 'causeway', // Node derives its default from the command line, which differs between workers
      rejectUnauthorized: false, // clients have no certificates
      handshakeTimeout: -1, // the waiting room limits the whole handshake, without a timer for each
    }).on('secureConnection', onConnection);
  const serverFor = chooseByTicket(currentSecrets, useOf(certificates, minVersion), open);
  serverFor([]); // fails here if key and chain do not match
  return {
    covers: (host) => covers.every((isCovered) => isCovered(host)),
    expiresAt: Math.min(...pairs.map(({ certificate }) => new X509Certificate(certificate).validToDate.getTime())),
    serverFor,
  };
}

/** Node's TLS server accepts tickets of one key only, so there is a server for each secret with valid tickets. */
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
