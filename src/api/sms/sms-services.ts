/** What the operations of SMS work with, besides the database: made once, with the listener. */
import { randomInt } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { flatText } from '#lib/flat-text.ts';
import type { Logger } from '#lib/logger.ts';
import { Acceptor, type WaitingSubmissions } from '#sms/acceptor.ts';

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
}

interface SmsServicesOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly log: Logger;
  readonly hooks: SmsHooks | undefined;
  /** Requests that wait to be accepted. */
  readonly maxWaiting: number;
}

const COUNTS = 10_000_000;

export function createSmsServices({ db, ring, log, hooks, maxWaiting }: SmsServicesOptions): SmsServices {
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
  };
}
