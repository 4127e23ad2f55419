/** Connects to parents by mutual TLS. Every handshake is a full one, so that each looks at the certificate. */
import { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { type Connect, ConnectError } from '../connector.ts';
import type { Tiers } from './tiers.ts';

/** Returns a connector; the server name of a destination is the id of the parent, which its certificate must have. */
export function createParentConnector(tiers: Pick<Tiers, 'tls' | 'isOf'>, timeoutMs: number): Connect {
  return async ({ host, port, serverName = '' }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Connect>>>();
    const socket = connectTls(optionsFor(tiers, { host, port, parent: serverName }));
    const fail = (failure: ConstructorParameters<typeof ConnectError>[0], message: string, cause?: unknown) => {
      clearTimeout(timer);
      reject(new ConnectError(failure, `parent ${serverName}: ${message}`, cause));
      socket.destroy();
    };
    const timer = setTimeout(() => fail('originConnectTimeout', `${timeoutMs} ms passed`), timeoutMs);
    const onError = (error: Error) => fail(socket.connecting ? 'originConnect' : 'originTls', error.message, error);
    const onClose = () => fail('originTls', 'closed');
    socket.once('error', onError).once('close', onClose);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose);
      resolve(socket);
    });
    return await promise;
  };
}

function optionsFor(
  tiers: Pick<Tiers, 'tls' | 'isOf'>,
  { host, port, parent }: { readonly host: string; readonly port: number; readonly parent: string },
): ConnectionOptions {
  const { cert, key, ca } = tiers.tls();
  return {
    ...{ host, port, cert, key, ca: [...ca] },
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['http/1.1'],
    checkServerIdentity: (_, { raw }) =>
      tiers.isOf(new X509Certificate(raw), parent) ? undefined : new Error('its certificate is not that of the parent'),
  };
}
