/** An edge on a free port, with sites that tests put in, and a client that shows what came back byte for byte. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { Registry } from 'prom-client';
import { createGuard } from '../../../src/edge/origin/guard.ts';
import { type Edge, type EdgeOptions, startEdge } from '../../../src/edge/server.ts';
import { MemoryStore } from '../../../src/edge/store/memory.ts';
import type { TicketSecret } from '../../../src/edge/transport/tls/ticket-keys.ts';
import { createLocalTime } from '../../../src/lib/local-time.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { formatLine } from '../../../src/logs/line.ts';
import { createSiteTable } from '../../../src/sites/lookup.ts';
import type { PurgeScope, SitePurge } from '../../../src/sites/purge.ts';
import type { OriginSpec, SiteSpec } from '../../../src/sites/spec.ts';
import type { CertificatePair } from '../../../src/sites/table.ts';
import { formatHit } from '../logs/access-record.ts';
import { type LoggedRequest, readLoggedRequest } from './logged-request.ts';
import { overwrite } from './overwrite.ts';

export interface TestEdge {
  readonly edge: Edge;
  readonly port: number;
  readonly registry: Registry;
  /** The access log: one line for each finished request. */
  readonly log: LoggedRequest[];
  /** Adds or replaces a site. */
  put(spec: Partial<SiteSpec> & { readonly name: string }): void;
  remove(name: string): void;
  /** Adds or replaces a list of addresses that sites share. */
  putList(key: string, entries: readonly string[]): void;
  /** Applies a purge of `www.example.com` now; a target is `host/path?query`. */
  purge(scope: PurgeScope): void;
  /** Moves the edge's clock forward. */
  advance(ms: number): void;
  get(path: string, options?: FetchOptions): Promise<Received>;
}

export interface FetchOptions {
  readonly method?: string;
  readonly host?: string;
  /** Where the edge is asked; absent: 127.0.0.1. */
  readonly address?: string;
  /** The client's own address; absent: 127.0.0.1. */
  readonly from?: string;
  /** Flat list, sent as it is. */
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Says so; the connection is ended behind the answer all the same. Absent: `close`. */
  readonly connection?: 'keep-alive';
  /** PEM of the authority to trust; the request is made by TLS. */
  readonly ca?: string;
}

export interface Received {
  readonly status: number;
  readonly reason: string;
  /** Lower-case names; several lines joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Interim responses before it. */
  readonly interim: readonly number[];
  /** The body ended as its framing promised. */
  readonly isWhole: boolean;
}

export interface TestEdgeOptions extends Partial<EdgeOptions> {
  readonly cacheBytes?: number;
  /** Certificates by their keys; the edge then listens for HTTPS too. */
  readonly certificates?: ReadonlyMap<string, CertificatePair>;
  readonly ticketSecrets?: readonly TicketSecret[];
  /** Keys of signed URLs, of every site. */
  readonly urlKeys?: readonly string[];
}

const TICKET_SECRETS: readonly TicketSecret[] = [{ createdAt: 0, secret: '5e'.repeat(32) }];

export const SITE_HOST = 'www.example.com';

const UTC = createLocalTime('UTC');

/** A site `www.example.com` with these origins, on the loopback. */
export async function startTestEdge(
  t: Pick<TestContext, 'after'>,
  origins: readonly number[] | Partial<SiteSpec['origins']> = [],
  { cacheBytes = 32 * 1024 * 1024, certificates, ticketSecrets = TICKET_SECRETS, ...options }: TestEdgeOptions = {},
): Promise<TestEdge> {
  const specs = new Map<string, { readonly spec: SiteSpec; readonly revision: number }>();
  const lists = new Map<string, readonly string[]>();
  const purges: SitePurge[] = [];
  // All purges of a test are of its first site.
  const purgesOf = (siteId: number) => (siteId === 1 ? purges : []);
  const getCertificate = (key: string) => certificates?.get(key);
  const sites = createSiteTable({
    source: {
      getSpec: (name) => specs.get(name),
      purgesOf,
      getCertificate,
      getAddressList: (key) => lists.get(key),
      urlKeysOf: () => options.urlKeys ?? [],
    },
    maxSites: 100,
  });
  const lines: LoggedRequest[] = [];
  const registry = new Registry();
  let ahead = 0;
  const clock = options.clock ?? (() => Date.now() + ahead);
  const edge = await startEdge({
    listen: { host: '127.0.0.1', port: 0 },
    reusePort: false,
    sites,
    store: new MemoryStore({ maxBytes: cacheBytes, onFreed: overwrite }),
    maxLagBytes: cacheBytes / 4,
    maxShortcutBytes: () => cacheBytes / 16,
    guard: createGuard({ allow: ['127.0.0.0/8', '::1'], refuse: [] }),
    accessLog: {
      write: (_domainId, record) => void lines.push(readLoggedRequest(formatLine(record, UTC))),
      writeHit: (hit) => void lines.push(readLoggedRequest(formatHit(hit, UTC))),
      countOrigin: () => undefined,
    },
    clock,
    log: createLogger({ level: 'silent', name: 'test' }),
    registry,
    ...(certificates !== undefined && {
      https: { listen: { host: '127.0.0.1', port: 0 }, certificates: { getCertificate }, ticketSecrets },
    }),
    ...options,
    limits: { halfClosedMs: 100, ...options.limits }, // so that clients that leave are noticed soon
  });
  t.after(() => edge.close(0));
  const forget = (name: string) => {
    sites.forget([name]);
    edge.https?.forget([name]);
  };
  const put = putInto(specs, forget);
  put({
    name: SITE_HOST,
    origins: { ...NO_ORIGINS, ...(Array.isArray(origins) ? { primary: loopback(origins) } : origins) },
  });
  return {
    edge,
    port: edge.port,
    registry,
    log: lines,
    put,
    remove: (name) => {
      specs.delete(name);
      forget(name);
    },
    putList: (key, entries) => {
      lists.set(key, entries);
      sites.forget([key]);
    },
    purge: (scope) => {
      purges.push({ ...scope, appliedAt: clock() });
      sites.forget([SITE_HOST]);
    },
    advance: (ms) => {
      ahead += ms;
    },
    get: (path, fetchOptions) => fetchFrom(edge.port, path, fetchOptions),
  };
}

export const NO_ORIGINS: SiteSpec['origins'] = {
  protocol: 'http',
  primary: [],
  backup: [],
  hostHeader: '',
  probePath: '',
};

export function loopback(ports: readonly number[]): OriginSpec[] {
  return ports.map((port) => ({ host: '127.0.0.1', port }));
}

function putInto(
  specs: Map<string, { readonly spec: SiteSpec; readonly revision: number }>,
  forget: (name: string) => void,
) {
  let revision = 0;
  return (change: Partial<SiteSpec> & { readonly name: string }) => {
    const known = specs.get(change.name)?.spec;
    const plain: SiteSpec = {
      id: specs.size + 1,
      name: change.name,
      type: 'static',
      state: 'open',
      origins: NO_ORIGINS,
    };
    specs.set(change.name, { spec: { ...plain, ...known, ...change }, revision: ++revision });
    forget(change.name);
  };
}

/** A connection of its own per request. */
export function fetchFrom(port: number, path: string, options: FetchOptions = {}): Promise<Received> {
  const {
    method = 'GET',
    host = SITE_HOST,
    address = '127.0.0.1',
    headers = [],
    body,
    connection = 'close',
    from,
  } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const interim: number[] = [];
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  const all = ['Host', host, ...headers, ...length, 'Connection', connection];
  const asked = { port, host: address, method, path, headers: all, agent: false, ...(from && { localAddress: from }) };
  const { ca } = options;
  const request = ca === undefined ? httpRequest(asked) : httpsRequest({ ...asked, ca, servername: host });
  request.on('information', ({ statusCode }) => interim.push(statusCode));
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', () => undefined); // shows as not whole
    response.on('close', () => {
      request.destroy();
      resolve({
        status: response.statusCode ?? 0,
        reason: response.statusMessage ?? '',
        headers: joinHeaders(response.rawHeaders),
        rawHeaders: response.rawHeaders,
        body: Buffer.concat(chunks).toString('latin1'),
        interim,
        isWhole: response.complete,
      });
    });
  });
  request.end(body);
  return promise;
}

function joinHeaders(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    headers[name] = name in headers ? `${headers[name]}, ${raw[i + 1]}` : (raw[i + 1] ?? '');
  }
  return headers;
}

export interface RawClient {
  readonly socket: Socket;
  /** All that came so far, latin1. */
  text(): string;
  /** Resolves with everything when the server ends or resets the connection. */
  readonly closed: Promise<string>;
}

/** Sends bytes as they are and leaves the connection open. `from`: the client's own address. */
export function connectRaw(port: number, bytes = '', from = '127.0.0.1'): RawClient {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  let text = '';
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined); // a reset shows as closed
  socket.on('close', () => resolve(text));
  if (bytes !== '') socket.write(bytes, 'latin1');
  return { socket, text: () => text, closed: promise };
}
