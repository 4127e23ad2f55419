/** The health page of a worker: its clients, and the word on it, which is what the feed's process has found last. */
import { isIP } from 'node:net';
import type { Config } from '#config';
import type { HealthPage } from '#edge/stages/health.ts';
import { createAddressSet } from '#lib/cidr.ts';
import type { HealthMessage } from './messages.ts';

/** The machine itself. */
const LOOPBACK = ['127.0.0.0/8', '::1'];

type PageConfig = Pick<Config, 'healthAllow' | 'edgeTrustedProxies' | 'edgeHttpListen' | 'edgeHttpsListen'>;

/** `before`: what the health page said before this worker; absent: nothing yet. */
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

/** A listener on one address is reached from that address when this machine checks it. */
function ownHosts({ edgeHttpListen, edgeHttpsListen }: PageConfig): readonly string[] {
  const hosts = [edgeHttpListen.host, edgeHttpsListen === 'off' ? '' : edgeHttpsListen.host];
  return hosts.filter((host) => isIP(host) !== 0 && host !== '0.0.0.0' && host !== '::');
}
