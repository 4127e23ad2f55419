/**
 * The only way to connect to an address that a customer names. Names are resolved here, the guard checks each address,
 * and the socket connects to that very address without a second look-up.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { OriginFailure } from '../reasons.ts';
import type { Guard } from './guard.ts';
import type { Resolve } from './resolve.ts';

export interface ConnectorOptions {
  readonly guard: Guard;
  readonly resolve: Resolve;
  /** Limit for the look-up, the attempts at all addresses and the TLS handshake together. */
  readonly timeoutMs: number;
  /** Certificate authorities in PEM, instead of the system's. */
  readonly ca?: string | undefined;
  /** `names` if absent. */
  readonly verify?: VerifyOrigins | undefined;
}

/**
 * Whose certificates are verified: those of origins given by name, of all origins, or of none. The default is by name,
 * since certificates seldom contain an address, and an origin at an address often has a certificate of its own.
 * docs/decisions/0135
 */
export type VerifyOrigins = 'names' | 'always' | 'never';

export interface Destination {
  readonly host: string;
  readonly port: number;
  /** Whether `host` is an IP literal, which is not resolved. */
  readonly isAddress: boolean;
  /** TLS with this server name, or without SNI if empty; `undefined`: no TLS. */
  readonly serverName: string | undefined;
}

/** A failure to connect. The caller reports `failure`; the message is for the log. */
export class ConnectError extends Error {
  readonly failure: OriginFailure;

  constructor(failure: OriginFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** Limit of addresses that are tried; a name may have hundreds. */
const MAX_ADDRESSES = 8;

export type Connect = (destination: Destination) => Promise<Socket>;

/**
 * Returns a connector. It tries every permitted address and resolves to a connected socket, after the TLS handshake if
 * there is one; rejects with `ConnectError`.
 */
export function createConnector(options: ConnectorOptions): Connect {
  return async (destination) => {
    const deadlineAt = performance.now() + options.timeoutMs;
    const addresses = await permittedAddresses(destination, options);
    let last: ConnectError | undefined;
    for (const [index, address] of addresses.entries()) {
      // An equal share of the remaining time, so that one dead address does not use up the time of the others.
      const timeoutMs = Math.max(1, (deadlineAt - performance.now()) / (addresses.length - index));
      try {
        const socket = await openTcp(address, destination.port, timeoutMs);
        if (destination.serverName === undefined) return socket;
        return await openTls(socket, destination, options, Math.max(1, deadlineAt - performance.now()));
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        last = error;
      }
    }
    throw last;
  };
}

/** Looks up the name; returns why `createConnector` would try no address, or `undefined` if it would try one. */
export async function foreseeFailure(
  destination: Destination,
  options: Pick<ConnectorOptions, 'guard' | 'resolve' | 'timeoutMs'>,
): Promise<OriginFailure | undefined> {
  try {
    await permittedAddresses(destination, options);
    return undefined;
  } catch (error) {
    if (error instanceof ConnectError) return error.failure;
    throw error;
  }
}

/** Returns at least one address; throws `ConnectError` if there is none. */
async function permittedAddresses(
  { host, port, isAddress }: Destination,
  { guard, resolve, timeoutMs }: Pick<ConnectorOptions, 'guard' | 'resolve' | 'timeoutMs'>,
): Promise<readonly string[]> {
  const all = isAddress ? [host] : await resolveWithin(resolve, host, timeoutMs);
  if (all.length === 0) throw new ConnectError('originDns', `${host} has no address`);
  const permitted = all.filter((address) => guard.permits(address, port)).slice(0, MAX_ADDRESSES);
  if (permitted.length === 0) {
    throw new ConnectError('originForbidden', `${host} port ${port} is not an address that the edge connects to`);
  }
  return permitted;
}

/** The look-up cannot be cancelled; a late result is ignored. */
function resolveWithin(resolve: Resolve, host: string, timeoutMs: number): Promise<readonly string[]> {
  const { promise, resolve: give, reject } = Promise.withResolvers<readonly string[]>();
  const timer = setTimeout(() => reject(new ConnectError('originDns', `no answer for ${host}`)), timeoutMs);
  resolve(host)
    .then(give, (cause) => reject(new ConnectError('originDns', `${host} does not resolve`, cause)))
    .finally(() => clearTimeout(timer));
  return promise;
}

function openTcp(address: string, port: number, timeoutMs: number): Promise<Socket> {
  const socket = connectTcp({ host: address, port, noDelay: true, keepAlive: true, autoSelectFamily: false });
  return settle(socket, 'connect', 'originConnect', `${address} port ${port}`, timeoutMs);
}

function openTls(
  socket: Socket,
  { host, serverName, isAddress }: Destination,
  { ca, verify = 'names' }: ConnectorOptions,
  timeoutMs: number,
): Promise<Socket> {
  const secure = connectTls({
    socket,
    host, // name that the certificate must have if there is no server name
    rejectUnauthorized: verify === 'always' || (verify === 'names' && !isAddress),
    ALPNProtocols: ['http/1.1'],
    ...(serverName ? { servername: serverName } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
  return settle(secure, 'secureConnect', 'originTls', serverName || 'without a server name', timeoutMs);
}

function settle<T extends Socket>(
  socket: T,
  event: 'connect' | 'secureConnect',
  failure: OriginFailure,
  what: string,
  timeoutMs: number,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const fail = (error: ConnectError) => {
    clearTimeout(timer);
    reject(error);
    socket.destroy();
  };
  const timer = setTimeout(
    () => fail(new ConnectError('originConnectTimeout', `${event}: ${what}: ${Math.round(timeoutMs)} ms passed`)),
    timeoutMs,
  );
  const onError = (cause: NodeJS.ErrnoException) => {
    const reason = OWN_SHORTAGES.has(cause.code ?? '') ? 'noSocket' : failure;
    fail(new ConnectError(reason, `${event}: ${what}: ${cause.message}`, cause));
  };
  const onClose = () => fail(new ConnectError(failure, `${event}: ${what}: closed`));
  socket.once('error', onError).once('close', onClose);
  socket.once(event, () => {
    clearTimeout(timer);
    socket.off('error', onError).off('close', onClose);
    resolve(socket);
  });
  return promise;
}

/** Error codes for a shortage on this machine, which say nothing about the other end. */
const OWN_SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);
