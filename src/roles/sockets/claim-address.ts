/**
 * Settles the addresses before any process starts: whether each can be listened on at all, and which port 0 becomes.
 * Several workers share a port, so they would not notice that another service has it.
 */
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { formatListenAddress, type ListenAddress } from '#lib/listen-address.ts';

export interface Wanted<K extends string> {
  readonly key: K;
  /** Name of the listener, for messages. */
  readonly who: string;
  readonly address: ListenAddress;
  /** Whether the listener has the same port over UDP. */
  readonly withUdp?: true;
}

export type Claims<K extends string> =
  | { readonly kind: 'claimed'; readonly addresses: ReadonlyMap<K, ListenAddress> }
  | { readonly kind: 'refused'; readonly problems: readonly { readonly key: K; readonly problem: string }[] };

/** Time for the processes of a killed service to release an address. */
const BUSY_TRIES = 10;
const BUSY_DELAY_MS = 100;

const NO_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use',
  EACCES: 'permission denied (ports below 1024 need a privilege)',
  EADDRNOTAVAIL: 'the address does not belong to this machine',
  ENOTFOUND: 'no such host',
};

/**
 * Returns each address with its port, or all problems; two equal addresses are a problem. `[::]` becomes 0.0.0.0 on a
 * machine without IPv6.
 */
export async function claimAddresses<K extends string>(wanted: readonly Wanted<K>[]): Promise<Claims<K>> {
  const held: Server[] = [];
  const addresses = new Map<K, ListenAddress>();
  const problems: { key: K; problem: string }[] = [];
  for (const { key, who, address, withUdp = false } of wanted) {
    const outcome = await hold(address, withUdp);
    if (outcome.kind === 'refused') problems.push({ key, problem: `${who} ${outcome.problem}` });
    else {
      held.push(outcome.server);
      addresses.set(key, outcome.address);
    }
  }
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'claimed', addresses };
}

type Held =
  | { readonly kind: 'held'; readonly server: Server; readonly address: ListenAddress }
  | { readonly kind: 'refused'; readonly problem: string };

async function hold(wanted: ListenAddress, withUdp: boolean): Promise<Held> {
  for (let tries = 1; ; tries++) {
    const outcome = await tryBoth(wanted, withUdp);
    if (typeof outcome !== 'string') return { kind: 'held', ...outcome };
    if (wanted.host === '::' && NO_IPV6.includes(outcome)) return hold({ ...wanted, host: '0.0.0.0' }, withUdp);
    if (outcome !== 'EADDRINUSE' || tries === BUSY_TRIES) {
      const problem = `cannot listen on ${formatListenAddress(wanted)}: ${REASONS[outcome] ?? outcome}`;
      return { kind: 'refused', problem };
    }
    await delay(BUSY_DELAY_MS);
  }
}

/**
 * Returns the code of the error if it fails. Of UDP only a port that is taken counts: where UDP is refused otherwise, the
 * service works without it.
 */
async function tryBoth(wanted: ListenAddress, withUdp: boolean): ReturnType<typeof tryListen> {
  const outcome = await tryListen(wanted);
  if (!withUdp || typeof outcome === 'string' || (await isUdpFree(outcome.address))) return outcome;
  await new Promise((resolve) => outcome.server.close(resolve));
  return 'EADDRINUSE';
}

function isUdpFree({ host, port }: ListenAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      resolve(error.code !== 'EADDRINUSE');
    });
    socket.bind({ address: host, port }, () => socket.close(() => resolve(true)));
  });
}

/** Returns the code of the error if it fails. */
function tryListen({ host, port }: ListenAddress): Promise<{ server: Server; address: ListenAddress } | string> {
  return new Promise((resolve) => {
    const server = createServer((connection) => connection.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => {
      const bound = server.address();
      const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
      resolve({ server, address: { host, port: boundPort } });
    });
  });
}
