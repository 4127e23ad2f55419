/** Asks a listener of this machine whether it answers, as a viewer's first bytes would. */
import { connect } from 'node:net';
import type { ListenAddress } from '#lib/listen-address.ts';
import { reachableHost } from '#lib/listen-address.ts';

export interface Inquiry {
  readonly address: ListenAddress;
  /** Whether connections must begin with a PROXY header. */
  readonly needsProxyHeader: boolean;
  /** Sent; the first byte of the answer is compared with `firstBytes`. */
  readonly question: Buffer;
  readonly firstBytes: readonly number[];
}

const LIMIT_MS = 2000;
/** A connection of the balancer itself. */
const PROXY_HEADER = Buffer.from('PROXY UNKNOWN\r\n');

export const HTTP_QUESTION = {
  question: Buffer.from('GET /.well-known/causeway/health HTTP/1.1\r\nHost: health\r\nConnection: close\r\n\r\n'),
  firstBytes: [...Buffer.from('H')],
};

/** Record types of TLS. RFC 8446 §5.1 */
const [ALERT, HANDSHAKE] = [21, 22];

/**
 * A hello for no server name. The listener answers it with an alert, since it has no certificate for it: no handshake
 * is made, and no domain is needed. RFC 8446 §4.1.2
 */
export const TLS_QUESTION = {
  question: Buffer.concat([
    Buffer.from([HANDSHAKE, 3, 1, 0, 45, 1, 0, 0, 41, 3, 3]),
    Buffer.alloc(32), // the random bytes, which are not used
    Buffer.from([0, 0, 2, 0xc0, 0x2f, 1, 0]),
  ]),
  firstBytes: [ALERT, HANDSHAKE],
};

/** Resolves with the problem; `undefined` if the listener answers. Never rejects. */
export function askListener({ address, needsProxyHeader, question, firstBytes }: Inquiry): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: reachableHost(address.host), port: address.port });
    const end = (problem: string | undefined) => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(LIMIT_MS, () => end(`no answer within ${LIMIT_MS / 1000} s`));
    socket.on('error', ({ message }) => end(message));
    socket.on('close', () => end('the connection was closed without an answer'));
    socket.on('data', (answer: Buffer) =>
      end(firstBytes.includes(answer.readUInt8()) ? undefined : 'an answer of another protocol'),
    );
    socket.write(needsProxyHeader ? Buffer.concat([PROXY_HEADER, question]) : question);
  });
}
