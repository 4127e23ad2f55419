/** The health page of a worker: the clients that may read it, and its word, which the feed's process sent last. */
import { isIP } from 'node:net';
import type { Config } from '#config';
import type { HealthPage } from '#edge/stages/health.ts';
import { createAddressSet } from '#lib/cidr.ts';
import type { HealthMessage } from '../process/messages.ts';

/** The machine itself. */
const LOOPBACK = ['127.0.0.0/8', '::1'];

type PageConfig = Pick<Config, 'healthAllow' | 'edgeTrustedProxies' | 'edgeHttpListen' | 'edgeHttpsListen'>;

/** `before`: the word of the health page before this worker started; absent: none yet. */
export function createHealthPage(
  config: PageConfig,
  before: HealthMessage['word'] | undefined,
): {
  readonly page: HealthPage;
  readonly use: (word: HealthMessage['word']) => void;
} {
  let word: HealthMessage['word'] = before ?? 'syncing';
  const allowed = createAddressSet([
    ...LOOPBACK,
    ...ownHosts(config),
    ...config.edgeTrustedProxies,
    ...config.healthAllow,
  ]);
  return {
    page: { isFor: allowed.has, state: () => ({ isReady: word === 'ready', word }) },
    use: (next) => {
      word = next;
    },
  };
}

/** When this machine checks a listener on one address, the connection comes from that address. */
function ownHosts({ edgeHttpListen, edgeHttpsListen }: PageConfig): readonly string[] {
  const hosts = [edgeHttpListen.host, edgeHttpsListen === 'off' ? '' : edgeHttpsListen.host];
  return hosts.filter((host) => isIP(host) !== 0 && host !== '0.0.0.0' && host !== '::');
}
