/** A real service, and per setting a domain with an origin of its own: what is set, what viewers get, what the origin saw. */

import type { TestContext } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import type { CallOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { createAuthority } from '../certificates/certificate.ts';
import { type FetchOptions, fetchFrom, type Received } from '../edge/edge.ts';
import { reply, type ScriptedOrigin, startOrigin } from '../edge/origin.ts';
import { startService } from '../process/service.ts';
import { untilInForce } from '../process/service-with-domain.ts';

export const TEXT = 'some text. '.repeat(500);

export interface Worlds {
  readonly client: Client;
  readonly port: number;
  /** How domains are viewed that have a certificate. */
  readonly httpsPort: number;
  /** Scheme of the viewers. */
  readonly scheme: 'http' | 'https';
  /** Certificate for names right below `example.com`. */
  readonly certificate?: { readonly ssl_key: string; readonly ca: string };
}

export interface SecureWorlds extends Worlds {
  readonly certificate: NonNullable<Worlds['certificate']>;
}

/** A domain of its own for one setting. */
export interface World {
  readonly client: Client;
  readonly domain_id: string;
  readonly scheme: Worlds['scheme'];
  readonly origin: ScriptedOrigin;
  /** Sets, and resolves when every edge runs it. */
  set<N extends RouteName>(name: N, request: Omit<CallOf<N>, 'domain_id'>): Promise<void>;
  /** Fetches by the viewers' scheme, or by the given one. */
  get(path: string, options?: FetchOptions & { readonly scheme?: Worlds['scheme'] }): Promise<Received>;
}

export type Check = (world: World) => Promise<void>;

export async function startWorlds(t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<Worlds> {
  const service = await startService(t, {
    settings: {
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_TOKEN_RATE_PER_SECOND: '1000',
      CAUSEWAY_EDGE_WORKERS: '1', // what one worker has just stored another one need not have seen on disk
      ...settings,
    },
  });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const [port = 0, httpsPort = 0] = [service.edgeUrl, service.edgeHttpsUrl].map((url) => Number(new URL(url).port));
  return { client, port, httpsPort, scheme: 'http' };
}

/** The same service, for viewers by HTTPS. Declare with `needs('openssl')`. */
export async function withHttps(t: TestContext, worlds: Worlds): Promise<SecureWorlds> {
  const authority = createAuthority(t);
  const { key: private_key, cert: certificate } = authority.issue(['*.example.com', '*.w.example.com']);
  const request = { ssl_title: 'of the test', certificate, private_key };
  const { ssl_key } = await worlds.client.call('certificate.add', request);
  return { ...worlds, scheme: 'https', certificate: { ssl_key, ca: authority.ca } };
}

/** A subtest for each check, on a domain that is in force. */
export async function runChecks(
  t: TestContext,
  worlds: Worlds,
  checks: Readonly<Record<string, Check>>,
): Promise<void> {
  for (const [index, [name, check]] of Object.entries(checks).entries()) {
    await t.test(name, async (t) => {
      const world = await startWorld(t, worlds, `${worlds.scheme}-${index}.example.com`);
      await untilInForce(world);
      await check(world);
    });
  }
}

/** Resolves when the domain is added; viewers ask for `viewedAs`, the domain itself when absent. */
export async function startWorld(
  t: TestContext,
  { client, port, httpsPort, scheme, certificate }: Worlds,
  domain: string,
  viewedAs = domain,
): Promise<World> {
  const type = { 'content-type': 'text/plain', 'cache-control': 'max-age=3600' };
  const origin = await startOrigin(t, reply(TEXT, type));
  const { domain_id } = await client.call('domain.add', { domain, cdn_type: 1, data: `127.0.0.1:${origin.port}` });
  if (certificate !== undefined)
    await client.call('config.setSsl', { domain_id, ssl_control: 1, ssl_key: certificate.ssl_key });
  const world: World = {
    client,
    domain_id,
    scheme,
    origin,
    async set(name, request) {
      // What is left out is just what is added here.
      await client.call(name, { ...request, domain_id } as unknown as CallOf<typeof name>);
      await untilInForce(world);
    },
    get: (path, { scheme: by = scheme, ...options } = {}) => {
      const how = { host: viewedAs, ...(by === 'https' && { ca: certificate?.ca ?? '' }), ...options };
      return fetchFrom(by === 'https' ? httpsPort : port, path, how);
    },
  };
  return world;
}

/** `HIT`, or with the reason: `DENIED ip`. */
export function cacheStatus({ headers }: Received): string {
  return headers['x-cache'] ?? '';
}

export function targetsOf({ requests }: ScriptedOrigin): string[] {
  return requests.map(({ target }) => target);
}
