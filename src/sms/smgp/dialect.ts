/** SMGP 3.0 for a session with a gateway. docs/decisions/0756 */
import type { Clock } from '#lib/clock.ts';
import type { SubmitOutcome } from '../carrier.ts';
import { idOf } from '../gateways/delivery.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import type { DeliveryVerdict, Dialect, PacketKind, Welcome } from '../wire/dialect.ts';
import { beijingStamp, isProven, loginDigest } from '../wire/login-digest.ts';
import { countTo } from '../wire/sequence.ts';
import { composeSmgpSubmit } from './compose.ts';
import { readSmgpDelivery } from './delivery.ts';
import { SMGP, SMGP_HEADER_OCTETS, SMGP_ID_OCTETS, type SmgpPacket } from './layouts.ts';
import type { SmgpRequest } from './request.ts';
import { SMGP_STATUS, smgpLoginRefusal, smgpRefusal } from './statuses.ts';

/** Far beyond any PDU that the gateway sends. */
const MAX_OCTETS = 10_000;
const LAST_SEQUENCE = 0x7fffffff;
/** Zeros between the account and the password in the digest. */
const DIGEST_ZEROS = 7;
const VERSION = 0x30;
const SEND_AND_RECEIVE = 2;
const ALIVE = { kind: 'request', command: 'activeTest', fields: {} } as const;
const BYE = { kind: 'request', command: 'exit', fields: {} } as const;

const KINDS: Readonly<Partial<Record<SmgpPacket['command'], PacketKind>>> = {
  ...{ loginResp: 'answer', submitResp: 'answer', activeTestResp: 'answer', exitResp: 'answer' },
  ...{ deliver: 'delivery', activeTest: 'alive', exit: 'bye' },
};

export function smgpDialect(settings: GatewayFields, clock: Clock): Dialect<SmgpPacket, SmgpRequest> {
  /** Digest of the last login, which the gateway's is made from. */
  let authenticator = '';
  return {
    name: 'SMGP 3.0',
    frames: { headerOctets: SMGP_HEADER_OCTETS, maxOctets: MAX_OCTETS },
    sends: true,
    receives: true,
    decode: (frame) => SMGP.decode(frame),
    kindOf: ({ command }) => KINDS[command] ?? 'other',
    keyOf: ({ sequence }) => sequence,
    answers: (packet, command) => packet.command === `${command}Resp`,
    sequences: () => countTo(LAST_SEQUENCE),
    encode: ({ command, fields, tlvs }, key) =>
      SMGP.encode({ command, sequence: Number(key), fields, ...(tlvs !== undefined && { rest: tlvs }) }),
    login() {
      const stamp = beijingStamp(clock());
      authenticator = loginDigest(settings.account, DIGEST_ZEROS, settings.password, stamp);
      const proof = { clientId: settings.account, authenticatorClient: authenticator, timestamp: Number(stamp) };
      return { kind: 'request', command: 'login', fields: { ...proof, loginMode: SEND_AND_RECEIVE, version: VERSION } };
    },
    welcome: (answer) => welcome(answer, authenticator, settings.password, clock),
    alive: ALIVE,
    bye: BYE,
    answerTo: (packet, verdict) => answerTo(packet, verdict, settings),
    compose: (part) => composeSmgpSubmit(part, settings),
    outcomeOf: (answer) => outcomeOf(answer, settings),
    readDelivery: (packet, frame) =>
      packet.command === 'deliver' ? readSmgpDelivery(packet, frame, settings) : undefined,
  };
}

function welcome(answer: SmgpPacket, authenticator: string, password: string, clock: Clock): Welcome {
  if (answer.command !== 'loginResp') return { kind: 'welcome' };
  const { status, authenticatorServer } = answer.fields;
  if (status !== 0) {
    const { word, isLasting } = smgpLoginRefusal(status);
    return { kind: 'refused', reason: `status ${status}, ${word} (our time: ${beijingStamp(clock())})`, isLasting };
  }
  if (isProven(authenticatorServer, status, authenticator, password)) return { kind: 'welcome' };
  return { kind: 'welcome', warning: 'the gateway does not prove that it knows the password' };
}

function answerTo(
  packet: SmgpPacket,
  verdict: DeliveryVerdict,
  { again }: Pick<GatewayFields, 'again'>,
): Buffer | undefined {
  const { command, sequence } = packet;
  if (command === 'activeTest') return SMGP.encode({ command: 'activeTestResp', sequence, fields: {} });
  if (command === 'exit') return SMGP.encode({ command: 'exitResp', sequence, fields: {} });
  const isAnswered = verdict === 'done' || (verdict === 'again' && again === 'busy');
  if (command !== 'deliver' || !isAnswered) return undefined;
  const msgId = idOf(packet.fields.msgId, SMGP_ID_OCTETS);
  const status = verdict === 'done' ? 0 : SMGP_STATUS.busy;
  return SMGP.encode({ command: 'deliverResp', sequence, fields: { msgId, status } });
}

/** A status that cannot be read is taken as 0: the gateway has answered. */
function outcomeOf(answer: SmgpPacket, { results }: Pick<GatewayFields, 'results'>): SubmitOutcome {
  const { msgId, status } = answer.command === 'submitResp' ? answer.fields : { msgId: '', status: 0 };
  if (status !== 0) return smgpRefusal(status, results);
  const carrierId = idOf(msgId, SMGP_ID_OCTETS);
  return { kind: 'accepted', carrierId, keys: carrierId === '' ? [] : [carrierId] };
}
