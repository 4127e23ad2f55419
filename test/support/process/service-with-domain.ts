/** Domains of a service, and a service with one edge worker and one domain. */
import type { TestContext } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import type { CallOf } from '#contract/operations.ts';
import { eventually } from '../eventually.ts';
import { type RunningService, startService } from './service.ts';

export interface AddedDomain {
  readonly client: Client;
  readonly domain_id: string;
}

/** Adds a domain, `www.example.com` by default, and resolves when it is in force. `origin`: an address, or a port of 127.0.0.1. */
export async function addDomain(
  { controlUrl, token }: Pick<RunningService, 'controlUrl' | 'token'>,
  origin: number | string,
  request: Partial<CallOf<'domain.add'>> = {},
): Promise<AddedDomain> {
  const client = createClient({ baseUrl: controlUrl, accessToken: token });
  const data = typeof origin === 'number' ? `127.0.0.1:${origin}` : origin;
  const { domain_id } = await client.call('domain.add', { domain: 'www.example.com', cdn_type: '1', data, ...request });
  await untilInForce({ client, domain_id });
  return { client, domain_id };
}

/** Resolves when every edge runs the domain as it is set. */
export async function untilInForce({ client, domain_id }: AddedDomain): Promise<void> {
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
}

export interface ServiceWithDomain extends AddedDomain {
  readonly service: RunningService;
  readonly edgePort: number;
  /** The worker's process id. */
  readonly worker: number;
}

/** Starts a service with `www.example.com`, whose origin is an address or a port of 127.0.0.1, and resolves when it is in force. */
export async function startWithDomain(
  t: TestContext,
  origin: number | string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceWithDomain> {
  const service = await startService(t, {
    settings: { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', ...settings },
  });
  const added = await addDomain(service, origin);
  const edgePort = Number(new URL(service.edgeUrl).port);
  return { ...added, service, edgePort, worker: service.pids()['edge-worker-1'] ?? 0 };
}
