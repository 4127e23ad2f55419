/** Describes for operators how a session with a carrier ended. Pure. */
import { unreachable } from '#lib/unreachable.ts';
import type { SessionEnd } from './session.ts';
import { STATUS } from './statuses.ts';

export function describeEnd(end: SessionEnd): string {
  switch (end.kind) {
    case 'refused':
      return `the carrier refused the session: ${describeStatus(end.status)}`;
    case 'malformed':
      return `the carrier sent invalid SMPP: ${end.reason}`;
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

const WORDS: Readonly<Record<number, string>> = {
  [STATUS.invalidBindState]: 'not in this state',
  [STATUS.alreadyBound]: 'the carrier allows no more sessions (already bound)',
  [STATUS.bindFailed]: 'bind failed',
  [STATUS.invalidPassword]: 'wrong password',
  [STATUS.invalidSystemId]: 'unknown system_id',
};

function describeStatus(status: number): string {
  const code = `0x${status.toString(16).padStart(8, '0')}`;
  const word = WORDS[status];
  return word === undefined ? code : `${code}, ${word}`;
}
