/** A console with a domain that has an origin and traffic. */
import { request } from 'node:http';
import { startOrigin } from '../edge/origin.ts';
import type { Cleanup } from '../temporary.ts';
import { type ConsoleOptions, startConsole, type TestConsole } from './browser.ts';
import { clientOf } from './signed-in.ts';

export interface TrafficConsole extends TestConsole {
  readonly domainId: string;
  /** A viewer's request for a path of the domain; returns the status. */
  get(path: string): Promise<number>;
}

/** Paths that begin with `/missing` are answered with 404, all others can be stored. */
export async function startTrafficConsole(
  t: Cleanup,
  domain: string,
  options: ConsoleOptions = {},
): Promise<TrafficConsole> {
  const origin = await startOrigin(t, ({ target }, response) => {
    const isMissing = target.startsWith('/missing');
    response.writeHead(isMissing ? 404 : 200, { 'cache-control': 'max-age=600', 'content-type': 'text/plain' });
    response.end('x'.repeat(4000));
  });
  const console = await startConsole(t, {
    ...options,
    settings: {
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_STAT_SECONDS: '1',
      CAUSEWAY_LOG_ROTATE_SECONDS: '1',
      ...options.settings,
    },
  });
  const { domain_id } = await clientOf(console).call('domain.add', {
    domain,
    cdn_type: '1',
    data: [`127.0.0.1:${origin.port}`],
  });
  return {
    ...console,
    domainId: domain_id,
    get: (path) =>
      new Promise((resolve, reject) => {
        request(console.service.edgeUrl + path, { headers: { host: domain } }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        })
          .on('error', reject)
          .end();
      }),
  };
}
