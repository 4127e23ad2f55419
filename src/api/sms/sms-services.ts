/** What the operations of SMS work with, besides the database: made once, with the listener. */
import { randomInt } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { Clock } from '#lib/clock.ts';
import { flatText } from '#lib/flat-text.ts';
import type { Logger } from '#lib/logger.ts';
import { OwnerTurns } from '#lib/owner-turns.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import type { DeliveryAttempt } from '#model/webhook.ts';
import { Acceptor, type WaitingSubmissions } from '#sms/acceptor.ts';
import { type PostOnce, testWebhook, type WebhookTest } from '#sms/test-webhook.ts';

/** The engine, if it runs in this process. */
export interface SmsHooks {
  /** Messages are queued. */
  onAccepted(): void;
  /** Requests wait to be accepted. True: the engine does it. */
  offer?(submissions: WaitingSubmissions): boolean;
  /** Connectors or routes are other ones. Resolves when they are used; never rejects. */
  onConnectorsChanged(): Promise<void>;
  /** The address in the URL of a webhook, if it is one that nothing is posted to. */
  refusedAddress?(url: string): string | undefined;
  /** How connectors are at this control and at the others; absent: none is open. */
  connectors?(): readonly ConnectorOfControl[];
  /** Posts to a webhook as deliveries are posted. Never rejects; bounded in time. */
  readonly post?: PostOnce;
}

export interface ConnectorOfControl extends ConnectorReport {
  /** Id of the control; empty: the only one. */
  readonly control: string;
}

export interface SmsServices {
  readonly acceptor: Acceptor;
  readonly ring: Keyring;
  readonly log: Logger;
  /** Connectors or routes are other ones. What is sent when this has resolved goes by them. */
  noteConnectors(): Promise<void>;
  /** See `SmsHooks`. */
  refusedAddress(url: string): string | undefined;
  /** A serial number that no other request has. */
  nextSendid(now: number): string;
  /** See `SmsHooks`. */
  connectors(): readonly ConnectorOfControl[];
  /** OwnerTurns of accounts at searching and counting their messages. */
  readonly searches: OwnerTurns<number>;
  /** Posts a test to a webhook. */
  testWebhook(test: WebhookTest): Promise<DeliveryAttempt>;
  /** Takes an app's turn at testing its webhook. Returns how long it has to wait if it cannot. */
  takeTest(appId: number): number;
}

interface SmsServicesOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly log: Logger;
  readonly hooks: SmsHooks | undefined;
  /** Requests that wait to be accepted. */
  readonly maxWaiting: number;
  readonly steadyClock: Clock;
}

const COUNTS = 10_000_000;
const NOTHING_POSTED: PostOnce = async () => ({ kind: 'failed', reason: 'stopped' });
/** Accounts that search at once, and searches of one that wait. */
const SEARCHES = { atOnce: 2, maxWaiting: 4 };
/** One test of an app's webhook in 5 s. */
const TEST_EVERY_SECONDS = 5;
const MAX_TESTED_APPS = 10_000;

export function createSmsServices(options: SmsServicesOptions): SmsServices {
  const { db, ring, log, hooks, maxWaiting, steadyClock } = options;
  const tests = new TokenBuckets({ perSecond: 1 / TEST_EVERY_SECONDS, burst: 1, maxKeys: MAX_TESTED_APPS });
  // Another process begins elsewhere: two would have to be at the same count in the same millisecond.
  let count = randomInt(COUNTS);
  return {
    acceptor: new Acceptor({
      db,
      maxWaiting,
      onAccepted: () => hooks?.onAccepted(),
      offer: (waiting) => hooks?.offer?.(waiting) ?? false,
    }),
    ring,
    log,
    noteConnectors: async () => await hooks?.onConnectorsChanged(),
    refusedAddress: (url) => hooks?.refusedAddress?.(url),
    nextSendid(now) {
      count = (count + 1) % COUNTS;
      return flatText(String(now), String(count).padStart(7, '0'));
    },
    connectors: () => hooks?.connectors?.() ?? [],
    searches: new OwnerTurns(SEARCHES),
    testWebhook: (test) => testWebhook(hooks?.post ?? NOTHING_POSTED, test, steadyClock),
    takeTest(appId) {
      const taken = tests.take(String(appId), steadyClock());
      return taken.kind === 'taken' ? 0 : taken.waitMs;
    },
  };
}
