/** Requests of a machine for its identity: enrolment, before which it trusts only the pin of a token, and renewal. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { readBody } from '#lib/read-body.ts';
import { controlName, fleetOf, isIssuedBy } from './authority.ts';
import { MAX_MESSAGE_BYTES } from './messages.ts';
import { FleetRefusal } from './refusal.ts';

const TIME_LIMIT_MS = 15_000;
/** An answer holds the certificates of two authorities. */
const MAX_ANSWER_BYTES = 8 * MAX_MESSAGE_BYTES;

export interface FleetCall {
  /** `https://host:port` of a control. */
  readonly control: string;
  readonly path: string;
  readonly body: object;
  readonly fields?: Readonly<Record<string, string>>;
  readonly tls: ConnectionOptions;
  /** Throws if the server is not the intended one. Called before anything is sent. */
  readonly verify?: (socket: TLSSocket) => void;
}

/** Returns the text of the answer. Throws `FleetRefusal` if control refuses, another error if it cannot be reached. */
export async function callFleet({ control, path, body, fields, tls, verify }: FleetCall): Promise<string> {
  const { hostname, port } = new URL(control);
  const host = hostname.replace(/^\[|\]$/g, '');
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  const socket = connect({ ...tls, host, port: Number(port === '' ? 443 : port), ALPNProtocols: ['http/1.1'] });
  const cut = () => socket.destroy(new Error(`${control} did not answer within ${TIME_LIMIT_MS / 1000} s`));
  signal.addEventListener('abort', cut);
  try {
    await once(socket, 'secureConnect').catch((cause) => {
      throw new Error(`${control} cannot be reached: ${reasonOf(cause)}`, { cause });
    });
    verify?.(socket);
    return await exchange(socket, { host, path, fields, text: JSON.stringify(body) });
  } finally {
    signal.removeEventListener('abort', cut);
    socket.destroy();
  }
}

/** Why there is no connection. Node's error about several addresses has no text of its own, OpenSSL's words help nobody. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  const text = error instanceof Error ? error.message : String(error);
  return /wrong version number|packet length too long|record layer failure/.test(text)
    ? 'it does not speak TLS there; expected the address of a fleet listener (setting fleet-listen of control)'
    : text;
}

async function exchange(
  socket: TLSSocket,
  {
    host,
    path,
    fields,
    text,
  }: { readonly host: string; readonly path: string; readonly fields: FleetCall['fields']; readonly text: string },
): Promise<string> {
  const outgoing = request({
    createConnection: () => socket,
    method: 'POST',
    path,
    headers: {
      host: isIP(host) === 6 ? `[${host}]` : host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
      ...fields,
    },
  });
  outgoing.end(text);
  // `as`: what the event `response` of a client request carries.
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const answer = await readAll(response);
  const { statusCode = 0 } = response;
  if (statusCode === 200) return answer;
  const [word = '', ...rest] = answer.trim().slice(0, 1000).split(': ');
  throw new FleetRefusal(statusCode, word, rest.join(': '));
}

async function readAll(response: IncomingMessage): Promise<string> {
  const body = await readBody(response, MAX_ANSWER_BYTES);
  if (body === undefined) throw new Error('the answer of control is too long');
  return body.toString('utf8');
}

/** A clock earlier than this, which is before this release, is wrong. */
const RELEASED_AT = Date.UTC(2026, 10, 30);
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

/**
 * Throws unless the server's certificate was issued by an authority that `trusts` accepts, for a control. Its dates are
 * not checked while the clock of this machine is certainly wrong.
 */
export function verifyControl(
  socket: TLSSocket,
  { trusts, now }: { readonly trusts: (authority: X509Certificate) => boolean; readonly now: number },
): void {
  const presented = socket.getPeerCertificate(true);
  const [leaf, authority] = [presented, presented.issuerCertificate].map((one) => one && new X509Certificate(one.raw));
  if (leaf === undefined || authority === undefined) throw new Error('the server does not present its authority');
  if (!trusts(authority) || !isIssuedBy(leaf, authority))
    throw new Error(
      'the server is not a control of this fleet: its certificate is not of the authority that is pinned',
    );
  const fleet = fleetOf(authority);
  const isServer = leaf.keyUsage?.includes(SERVER_AUTH) === true;
  if (fleet === undefined || !isServer || leaf.checkHost(controlName(fleet)) === undefined)
    throw new Error('the server is not a control: its certificate is for another use');
  if (now < RELEASED_AT) return;
  if (now < leaf.validFromDate.getTime() || now > leaf.validToDate.getTime())
    throw new Error('the certificate of the server has expired, or the clock of this machine is wrong');
}
