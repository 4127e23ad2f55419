/** A real service, and per setting a domain with an origin of its own: what is set, what viewers get, what the origin saw. */
import type { TestContext } from 'node:test';
import { type Client, createClient } from '#client/client.ts';
import type { CallOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { type FetchOptions, fetchFrom, type Received } from './edge.ts';
import { eventually } from './eventually.ts';
import { reply, type ScriptedOrigin, startOrigin } from './origin.ts';
import { startService } from './service.ts';

export const TEXT = 'some text. '.repeat(500);

export interface Worlds {
  readonly client: Client;
  readonly port: number;
}

/** A domain of its own for one setting. */
export interface World {
  readonly client: Client;
  readonly domain_id: string;
  readonly origin: ScriptedOrigin;
  /** Sets, and resolves when every edge runs it. */
  set<N extends RouteName>(name: N, request: Omit<CallOf<N>, 'domain_id'>): Promise<void>;
  get(path: string, options?: FetchOptions): Promise<Received>;
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
  return { client, port: Number(new URL(service.edgeUrl).port) };
}

/** A subtest for each check, on a domain that is in force. */
export async function runChecks(
  t: TestContext,
  worlds: Worlds,
  checks: Readonly<Record<string, Check>>,
): Promise<void> {
  for (const [index, [name, check]] of Object.entries(checks).entries()) {
    await t.test(name, async (t) => {
      const world = await startWorld(t, worlds, `d${index}.example.com`);
      await untilInForce(world);
      await check(world);
    });
  }
}

/** Resolves when the domain is added; viewers ask for `viewedAs`, the domain itself when absent. */
export async function startWorld(
  t: TestContext,
  { client, port }: Worlds,
  domain: string,
  viewedAs = domain,
): Promise<World> {
  const type = { 'content-type': 'text/plain', 'cache-control': 'max-age=3600' };
  const origin = await startOrigin(t, reply(TEXT, type));
  const { domain_id } = await client.call('domain.add', { domain, cdn_type: 1, data: `127.0.0.1:${origin.port}` });
  const world: World = {
    client,
    domain_id,
    origin,
    async set(name, request) {
      // What is left out is just what is added here.
      await client.call(name, { ...request, domain_id } as unknown as CallOf<typeof name>);
      await untilInForce(world);
    },
    get: (path, options) => fetchFrom(port, path, { host: viewedAs, ...options }),
  };
  return world;
}

export async function untilInForce({ client, domain_id }: World): Promise<void> {
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
}

/** `HIT`, or with the reason: `DENIED ip`. */
export function cacheStatus({ headers }: Received): string {
  return headers['x-cache'] ?? '';
}

export function targetsOf({ requests }: ScriptedOrigin): string[] {
  return requests.map(({ target }) => target);
}
