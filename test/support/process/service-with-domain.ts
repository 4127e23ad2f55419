/** A service with one edge worker and one domain, `www.example.com`, whose origin is on the loopback. */
import type { TestContext } from 'node:test';
import { createClient } from '#client/client.ts';
import { eventually } from '../eventually.ts';
import { type RunningService, startService } from './service.ts';

export interface ServiceWithDomain {
  readonly service: RunningService;
  readonly edgePort: number;
  /** The worker's process id. */
  readonly worker: number;
}

/** Resolves when the domain is in force. */
export async function startWithDomain(
  t: TestContext,
  originPort: number,
  settings: Readonly<Record<string, string>>,
): Promise<ServiceWithDomain> {
  const service = await startService(t, {
    settings: { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', ...settings },
  });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const request = { domain: 'www.example.com', cdn_type: '1', data: `127.0.0.1:${originPort}` };
  const { domain_id } = await client.call('domain.add', request);
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
  const edgePort = Number(new URL(service.edgeUrl).port);
  return { service, edgePort, worker: service.pids()['edge-worker-1'] ?? 0 };
}
