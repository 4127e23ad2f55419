/** The requester: client address, and language of the answer. Both ways of reading requests share it. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { LOCAL_USER_FIELD, localUserText } from '#contract/schema/local-user.ts';
import { chooseLocale, type Locale } from '#contract/schema/locale.ts';
import { createAddressSet, unmapAddress } from '#lib/cidr.ts';
import { clientAddress } from '#lib/client-address.ts';
import { isLoopback } from '#lib/listen-address.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { BrowserFields } from '../auth/browser.ts';
import type { CallFields } from './call-fields.ts';

/** What a request says of its client and of itself. */
export interface Requester {
  /** Peer address of the connection. */
  readonly peer: string | undefined;
  readonly forwardedFor: string | undefined;
  readonly acceptLanguage: string | undefined;
  /** `Idempotency-Key` as it was sent. */
  readonly idempotencyKey: string | undefined;
  /** User of this machine, as a command says it. */
  readonly localUser: string | undefined;
  readonly browser: BrowserFields;
}

/** What the fields of a call say: the same for every way in which calls are read. */
export function saidBy(fields: CallFields): Omit<Requester, 'peer'> {
  return {
    forwardedFor: fields['x-forwarded-for'],
    acceptLanguage: fields['accept-language'],
    idempotencyKey: fields['idempotency-key'],
    localUser: fields[LOCAL_USER_FIELD],
    browser: {
      cookie: fields.cookie,
      origin: fields.origin,
      fetchSite: fields['sec-fetch-site'],
      host: fields.host,
      contentType: fields['content-type'],
      userAgent: fields['user-agent'],
    },
  };
}

/** Id of a call: that of its client, if that can stand in a log and a header as it is; or else one of ours. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && CLIENT_ID.test(sent) ? sent : randomUUID();
}

const CLIENT_ID = /^[\w.:/+=~-]{1,128}$/;

export interface Requesters {
  addressOf(requester: Requester): string;
  callerOf(requester: Requester): Caller;
  localeOf(requester: Requester): Locale;
}

export interface RequesterOptions {
  /** Addresses and networks whose X-Forwarded-For is believed; none: the connection's address is the client's. */
  readonly trustedProxies: readonly string[];
  /** Language for requests that ask for none that we have. */
  readonly locale: Locale;
  /** Called with the address of a connection that sends `X-Forwarded-For` and is not trusted. */
  readonly onUntrustedProxy: (peer: string) => void;
}

export function createRequesters({ trustedProxies, locale, onUntrustedProxy }: RequesterOptions): Requesters {
  const trusted = createAddressSet(trustedProxies);
  const addressOf = ({ peer, forwardedFor }: Requester) =>
    clientAddress(unmapAddress(peer ?? ''), forwardedFor, trusted);
  return {
    addressOf,
    callerOf: (requester) => {
      const address = addressOf(requester);
      const peer = unmapAddress(requester.peer ?? '');
      if (requester.forwardedFor !== undefined && !trusted.has(peer)) onUntrustedProxy(peer);
      const isLocal = requester.forwardedFor === undefined && isLoopback(address);
      const user = isLocal ? localUserText(requester.localUser ?? '') : '';
      return { address, isLocal, user, browser: requester.browser };
    },
    localeOf: ({ acceptLanguage }) => chooseLocale(acceptLanguage, locale),
  };
}

/**
 * Ends a connection that was reset before it was accepted: its client's address is unknown. An address that is read now
 * is known for good.
 */
export function endUnknown(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
}
