/**
 * SGIP 1.2 for a session with a gateway that we open. Reports and replies mostly come in sessions that the gateway
 * opens, see `listener.ts`, but some gateways send them here too. docs/decisions/0756
 */
import type { Clock } from '#lib/clock.ts';
import type { SubmitOutcome } from '../carrier.ts';
import type { DeliveryVerdict, Dialect, PacketKind, Sequences, Welcome } from '../wire/dialect.ts';
import { composeSgipSubmit } from './compose.ts';
import { readSgipDelivery } from './delivery.ts';
import { SGIP, SGIP_HEADER_OCTETS, type SgipPacket } from './layouts.ts';
import type { SgipRequest } from './request.ts';
import { bindRefusal, SGIP_RESULT, sgipRefusal } from './results.ts';
import { freeSequence } from './sequence.ts';
import type { SgipFields } from './settings.ts';

export type SgipDialect = Dialect<SgipPacket, SgipRequest>;

/** Far beyond any PDU that the gateway sends. */
const MAX_OCTETS = 10_000;
export const SGIP_FRAMES = { headerOctets: SGIP_HEADER_OCTETS, maxOctets: MAX_OCTETS } as const;
const LOGIN_BY_CUSTOMER = 1;
const BYE = { kind: 'request', command: 'unbind', fields: {} } as const;

const KINDS: Readonly<Partial<Record<SgipPacket['command'], PacketKind>>> = {
  ...{ bindResp: 'answer', submitResp: 'answer', unbindResp: 'answer' },
  ...{ deliver: 'delivery', report: 'delivery', unbind: 'bye' },
};

export function sgipDialect(settings: SgipFields, clock: Clock): SgipDialect {
  const { account, password } = settings;
  const login = { loginType: LOGIN_BY_CUSTOMER, loginName: account, loginPassword: password, reserve: '' };
  const own = sequences(settings.node, clock);
  return {
    name: 'SGIP 1.2',
    frames: SGIP_FRAMES,
    sends: true,
    receives: true,
    decode: (frame) => SGIP.decode(frame),
    kindOf: ({ command }) => KINDS[command] ?? 'other',
    keyOf: ({ sequence }) => sequence,
    answers: (packet, command) => packet.command === `${command}Resp`,
    sequences: () => own,
    encode: ({ command, fields }, key) => SGIP.encode({ command, sequence: String(key), fields }),
    login: () => ({ kind: 'request', command: 'bind', fields: login }),
    welcome,
    bye: BYE,
    answerTo: (packet, verdict) => answerTo(packet, verdict, settings),
    compose: (part) => composeSgipSubmit(part, settings),
    outcomeOf: (answer) => outcomeOf(answer, settings),
    readDelivery: (packet, frame) =>
      packet.command === 'deliver' || packet.command === 'report'
        ? readSgipDelivery(packet, frame, settings)
        : undefined,
  };
}

/** Sequences of all sessions: two that bind within a second must differ too. */
function sequences(node: number, clock: Clock): Sequences<SgipRequest> {
  let count = 0;
  return ({ partId }, isTaken) => {
    if (partId === undefined) count += 1;
    return freeSequence(node, clock(), partId ?? count, isTaken);
  };
}

function welcome(answer: SgipPacket): Welcome {
  const result = answer.command === 'bindResp' ? answer.fields.result : SGIP_RESULT.ok;
  if (result === SGIP_RESULT.ok) return { kind: 'welcome' };
  const { word, isLasting } = bindRefusal(result);
  return { kind: 'refused', reason: `result ${result}, ${word}`, isLasting };
}

function answerTo(
  packet: SgipPacket,
  verdict: DeliveryVerdict,
  { again }: Pick<SgipFields, 'again'>,
): Buffer | undefined {
  const { sequence } = packet;
  switch (packet.command) {
    case 'unbind':
      return SGIP.encode({ command: 'unbindResp', sequence, fields: {} });
    // Tells that a phone is gone, in arrears or back. Nothing depends on it.
    case 'userReport':
      return answer('userReportResp', sequence, SGIP_RESULT.ok);
    case 'deliver':
    case 'report':
      if (verdict === 'done') return answer(`${packet.command}Resp`, sequence, SGIP_RESULT.ok);
      return verdict === 'again' && again === 'busy'
        ? answer(`${packet.command}Resp`, sequence, SGIP_RESULT.busy)
        : undefined;
    default:
      return undefined;
  }
}

/** Answers a request of the gateway. */
export function answer(
  command: 'bindResp' | 'deliverResp' | 'reportResp' | 'userReportResp',
  sequence: string,
  result: number,
): Buffer {
  return SGIP.encode({ command, sequence, fields: { result, reserve: '' } });
}

/** A result that cannot be read is taken as 0: the gateway has answered. */
function outcomeOf(response: SgipPacket, { results }: Pick<SgipFields, 'results'>): SubmitOutcome {
  const result = response.command === 'submitResp' ? response.fields.result : SGIP_RESULT.ok;
  if (result !== SGIP_RESULT.ok) return sgipRefusal(result, results);
  const { sequence } = response;
  return { kind: 'accepted', carrierId: sequence, keys: [sequence] };
}
