/** Describes for operators how a session with a carrier ended. Pure. */
import { unreachable } from '#lib/unreachable.ts';
import type { SessionEnd } from './session.ts';

/** `protocol`: its name, such as `SMPP`. */
export function describeEnd(end: SessionEnd, protocol: string): string {
  switch (end.kind) {
    case 'refused':
      return `the carrier refused the session: ${end.reason}`;
    case 'malformed':
      return `the carrier sent invalid ${protocol}: ${end.reason}`;
    case 'closed':
      return `cannot connect, or the connection was closed: ${end.reason.replace(NODE_ADVICE, '')}`;
    case 'bindTimeout':
      return 'the carrier did not respond in time';
    case 'silent':
      return 'the carrier stopped responding';
    case 'unbound':
      return 'the carrier ended the session';
    case 'left':
      return 'the session was closed';
    default:
      return unreachable(end);
  }
}

/** Node's advice after a TLS error, which names a flag of Node; here the setting `tls_ca` helps. */
const NODE_ADVICE = /; if the root CA is installed locally, .*$/;
