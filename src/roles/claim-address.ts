/**
 * Settles the addresses before any process starts: whether one can be listened on at all, and which port 0 becomes. Several
 * workers share a port, so they would not notice that another service has it.
 */
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { formatListenAddress, type ListenAddress } from '#lib/listen-address.ts';

export type Claim =
  | { readonly kind: 'address'; readonly address: ListenAddress }
  | { readonly kind: 'refused'; readonly problem: string };

/** The processes of a service that was killed may need a moment to let go of it. */
const BUSY_TRIES = 10;
const BUSY_DELAY_MS = 100;

const NO_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use',
  EACCES: 'permission denied (ports below 1024 need a privilege)',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

/** Gives the address with its port; `[::]` becomes 0.0.0.0 on a machine without IPv6. */
export async function claimAddress(wanted: ListenAddress): Promise<Claim> {
  for (let tries = 1; ; tries++) {
    const outcome = await tryListen(wanted);
    if (typeof outcome === 'number') return { kind: 'address', address: { host: wanted.host, port: outcome } };
    if (wanted.host === '::' && NO_IPV6.includes(outcome)) return claimAddress({ ...wanted, host: '0.0.0.0' });
    if (outcome !== 'EADDRINUSE' || tries === BUSY_TRIES) {
      const problem = `cannot listen on ${formatListenAddress(wanted)}: ${REASONS[outcome] ?? outcome}`;
      return { kind: 'refused', problem };
    }
    await delay(BUSY_DELAY_MS);
  }
}

/** Gives the port, or the code of the error. */
function tryListen({ host, port }: ListenAddress): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}
