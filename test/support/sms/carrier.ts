/** A connector of a test's own, and what it tells. */
import type { TestContext } from 'node:test';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { type ConnectorSettings, SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import type {
  Carrier,
  CarrierState,
  CarrierTools,
  MobileOriginated,
  PartToSubmit,
  Receipt,
  SubmitOutcome,
  Unread,
} from '#sms/carrier.ts';
import { connectCarrier } from '#sms/connectors/connect.ts';
import { eventually } from '../eventually.ts';

export interface TestCarrier {
  readonly carrier: Carrier;
  readonly receipts: readonly Receipt[];
  readonly replies: readonly MobileOriginated[];
  readonly unread: readonly Unread[];
  readonly states: readonly CarrierState[];
  /** Why sessions ended. */
  readonly ends: readonly string[];
  readonly late: readonly { readonly partId: number; readonly outcome: SubmitOutcome }[];
  /** How often there was room again. */
  roomFreed(): number;
  /** Makes storing of deliveries fail from now on, or succeed again. */
  failToStore(isFailing: boolean): void;
  /** How many deliveries could not be stored. */
  unstored(): number;
  bound(): Promise<unknown>;
}

export function smppSettings(port: number, changed: Partial<SmppSettings> = {}): SmppSettings {
  return { ...SMPP_DEFAULTS, kind: 'smpp', host: '127.0.0.1', port, systemId: 'test', password: 'secret', ...changed };
}

/** Closed with the test. It is quick to connect again unless `tools` say otherwise. */
export function connectTestCarrier(
  t: Pick<TestContext, 'after'>,
  settings: ConnectorSettings,
  tools: Partial<CarrierTools> = {},
): TestCarrier {
  const receipts: Receipt[] = [];
  const replies: MobileOriginated[] = [];
  const unread: Unread[] = [];
  const states: CarrierState[] = [];
  const ends: string[] = [];
  const late: { partId: number; outcome: SubmitOutcome }[] = [];
  let freed = 0;
  let isFailing = false;
  let unstored = 0;
  const store = async <T>(list: T[], item: T) => {
    if (isFailing) {
      unstored += 1;
      throw new Error('the disk is full');
    }
    list.push(item);
  };
  const events = {
    receipt: (receipt: Receipt) => store(receipts, receipt),
    reply: (message: MobileOriginated) => store(replies, message),
    unread: (item: Unread) => store(unread, item),
    lateAnswer: (partId: number, outcome: SubmitOutcome) => void late.push({ partId, outcome }),
    stateChanged: (state: CarrierState) => void states.push(state),
    sessionEnded: (reason: string) => void ends.push(reason),
    roomFreed: () => {
      freed += 1;
    },
  };
  const log = createLogger({ level: 'silent', name: 'test' });
  const carrier = connectCarrier(settings, events, {
    ...{ log, timers: systemTimers, clock: systemClock, random: () => 0 },
    ...tools,
  });
  t.after(() => carrier[Symbol.asyncDispose]());
  return {
    carrier,
    receipts,
    replies,
    unread,
    states,
    ends,
    late,
    roomFreed: () => freed,
    unstored: () => unstored,
    failToStore: (value) => {
      isFailing = value;
    },
    bound: () => eventually('the connector is bound', () => carrier.state === 'bound'),
  };
}

/** A receipt with this id, of a delivered message unless `changed` says otherwise. */
export function receiptOf(carrierId: string, changed: Partial<Receipt> = {}): Receipt {
  return {
    ...{ carrierId, keys: [carrierId], state: 'delivered', isFinal: true, word: '', raw: 'r' },
    ...{ destination: '+8613800138000', number: '+8613800138000' },
    ...changed,
  };
}

/** Builds a reply in ASCII. */
export function replyOf(origin: string, text: string, changed: Partial<MobileOriginated> = {}): MobileOriginated {
  const content = { text, isText: true, coding: 0, octets: Buffer.from(text) };
  return { origin, destination: '1069', ...content, ...changed };
}

export function partToSubmit(changed: Partial<PartToSubmit> = {}): PartToSubmit {
  const { text = '你好' } = changed;
  const part = {
    partId: 1,
    destination: '+8613800138000',
    text,
    texts: [text],
    part: 1,
    parts: 1,
    reference: 0,
    sender: '1069',
    partsLeft: 0,
  };
  return { ...part, ...changed };
}
