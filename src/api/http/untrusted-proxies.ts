/** Warns of proxies that are not trusted: all of their clients count as one, with one allowance for unknown access tokens. */
import type { Logger } from '#lib/logger.ts';

/** Any client can send the field, so the number of lines has a bound. */
const MAX_WARNED = 20;

/** Returns what is called with the address of a connection whose `X-Forwarded-For` is not believed: it logs each address once. */
export function warnOfUntrustedProxies(log: Logger): (peer: string) => void {
  const warned = new Set<string>();
  return (peer) => {
    if (warned.has(peer) || warned.size >= MAX_WARNED) return;
    warned.add(peer);
    log.warn(
      { peer },
      'ignoring X-Forwarded-For from an untrusted address; if it is your proxy, add it to trusted-proxies',
    );
  };
}
