/** CMPP 2.0 and 3.0 for a session with a gateway. docs/decisions/0756 */
import type { Clock } from '#lib/clock.ts';
import type { SubmitOutcome } from '../carrier.ts';
import { idOf } from '../gateways/delivery.ts';
import type { DeliveryVerdict, Dialect, PacketKind, Welcome } from '../wire/dialect.ts';
import { beijingStamp, isProven, loginDigest } from '../wire/login-digest.ts';
import { countTo } from '../wire/sequence.ts';
import { composeCmppSubmit } from './compose.ts';
import { readCmppDelivery } from './delivery.ts';
import {
  CMPP_HEADER_OCTETS,
  CMPP_ID_OCTETS,
  type CmppPacket,
  type CmppPacketOf,
  type CmppVersion,
  decodeCmpp,
  encodeCmpp,
} from './layouts.ts';
import type { CmppRequest } from './request.ts';
import { CMPP_RESULT, cmppLoginRefusal, cmppRefusal } from './results.ts';
import type { CmppFields } from './settings.ts';

/** Far beyond any PDU that the gateway sends. */
const MAX_OCTETS = 10_000;
const LAST_SEQUENCE = 0x7fffffff;
/** Zeros between the account and the password in the digest. */
const DIGEST_ZEROS = 9;
const VERSION_NUMBERS = { '2.0': 0x20, '3.0': 0x30 } as const;
const ALIVE = { kind: 'request', command: 'activeTest', fields: {} } as const;
const BYE = { kind: 'request', command: 'terminate', fields: {} } as const;

const KINDS: Readonly<Partial<Record<CmppPacket['command'], PacketKind>>> = {
  ...{ connectResp: 'answer', submitResp: 'answer', activeTestResp: 'answer', terminateResp: 'answer' },
  ...{ deliver: 'delivery', activeTest: 'alive', terminate: 'bye' },
};

export function cmppDialect(settings: CmppFields, clock: Clock): Dialect<CmppPacket, CmppRequest> {
  const version: CmppVersion = settings.kind === 'cmpp2' ? '2.0' : '3.0';
  /** Digest of the last login, which the gateway's is made from. */
  let authenticator = '';
  return {
    name: `CMPP ${version}`,
    frames: { headerOctets: CMPP_HEADER_OCTETS, maxOctets: MAX_OCTETS },
    sends: true,
    receives: true,
    decode: (frame) => decodeCmpp(version, frame),
    kindOf: ({ command }) => KINDS[command] ?? 'other',
    keyOf: ({ sequence }) => sequence,
    answers: (packet, command) => packet.command === `${command}Resp`,
    sequences: () => countTo(LAST_SEQUENCE),
    encode: ({ command, fields }, key) => encodeCmpp(version, { command, sequence: Number(key), fields }),
    login() {
      const stamp = beijingStamp(clock());
      const account = settings.accountPadding === '6' ? settings.account.padEnd(6, '\0') : settings.account;
      authenticator = loginDigest(account, DIGEST_ZEROS, settings.password, stamp);
      const proof = { sourceAddr: settings.account, authenticatorSource: authenticator, timestamp: Number(stamp) };
      return { kind: 'request', command: 'connect', fields: { ...proof, version: VERSION_NUMBERS[version] } };
    },
    welcome: (answer) => welcome(answer, authenticator, settings.password, clock),
    alive: ALIVE,
    bye: BYE,
    answerTo: (packet, verdict) => answerTo(version, packet, verdict, settings),
    compose: (part) => composeCmppSubmit(part, settings),
    outcomeOf: (answer) => outcomeOf(answer, settings),
    readDelivery: (packet, frame) =>
      packet.command === 'deliver' ? readCmppDelivery(packet, frame, settings) : undefined,
  };
}

function welcome(answer: CmppPacket, authenticator: string, password: string, clock: Clock): Welcome {
  if (answer.command !== 'connectResp') return { kind: 'welcome' };
  const { status, authenticatorIsmg } = answer.fields;
  if (status !== 0) {
    const { word, isLasting } = cmppLoginRefusal(status);
    return { kind: 'refused', reason: `status ${status}, ${word} (our time: ${beijingStamp(clock())})`, isLasting };
  }
  if (isProven(authenticatorIsmg, status, authenticator, password)) return { kind: 'welcome' };
  return { kind: 'welcome', warning: 'the gateway does not prove that it knows the password' };
}

function answerTo(
  version: CmppVersion,
  packet: CmppPacket,
  verdict: DeliveryVerdict,
  { again }: Pick<CmppFields, 'again'>,
): Buffer | undefined {
  const { command, sequence } = packet;
  if (command === 'activeTest')
    return encodeCmpp(version, { command: 'activeTestResp', sequence, fields: { reserved: 0 } });
  if (command === 'terminate') return encodeCmpp(version, { command: 'terminateResp', sequence, fields: {} });
  const isAnswered = verdict === 'done' || (verdict === 'again' && again === 'busy');
  if (command !== 'deliver' || !isAnswered) return undefined;
  const msgId = idOf(packet.fields.msgId, CMPP_ID_OCTETS);
  const result = verdict === 'done' ? 0 : CMPP_RESULT.busy;
  return encodeCmpp(version, { command: 'deliverResp', sequence, fields: { msgId, result } });
}

/** A result that cannot be read is taken as 0: the gateway has answered. */
function outcomeOf(answer: CmppPacket, settings: CmppFields): SubmitOutcome {
  const { msgId, result }: Pick<CmppPacketOf<'submitResp'>['fields'], 'msgId' | 'result'> =
    answer.command === 'submitResp' ? answer.fields : { msgId: '', result: 0 };
  if (result !== 0) return cmppRefusal(result, settings.results);
  const carrierId = idOf(msgId, CMPP_ID_OCTETS);
  return { kind: 'accepted', carrierId, keys: carrierId === '' ? [] : [carrierId] };
}
