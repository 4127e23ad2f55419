/**
 * Answers a call whose body has been read, by either reader: asks `dispatch`, which is built here from what control is
 * given.
 */
import type { RouteName } from '#contract/routes.ts';
import type { Db } from '#db/open.ts';
import { ALONE, type Controls } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { Asks } from '#feed/publish/asks.ts';
import type { Clock } from '#lib/clock.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { createDays } from '#logs/day.ts';
import { type LogFile, signedLogPath } from '#logs/download.ts';
import { type RecordingAddress, signedRecordingPaths } from '#logs/recordings/address.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import { signedTailPath, type TailAddress } from '#logs/tail/address.ts';
import { type Currency, NO_CURRENCY } from '#model/currency.ts';
import type { Review } from '#model/transition.ts';
import { createAuthenticate } from '../auth/authenticate.ts';
import { createPasswords } from '../auth/passwords.ts';
import { createProvider, type ProviderSettings } from '../auth/provider.ts';
import { createAuthenticateSession } from '../auth/sessions.ts';
import type { Uses } from '../auth/uses.ts';
import type { CallAnswer } from '../call-answer.ts';
import { type CheckOptions, createChecks } from '../checks/checks.ts';
import type { CallServices } from '../handlers/handler.ts';
import { type PreviewAddress, signedPreviewPath } from '../previews/preview-address.ts';
import { createSmsServices, type SmsHooks } from '../sms/sms-services.ts';
import { LiveTraffic } from '../views/live-traffic.ts';
import { LogSearches } from '../views/log-searches.ts';
import { createSinkTests, type PostToSink } from '../views/sink-tests.ts';
import { TrafficRanks } from '../views/traffic-ranks.ts';
import type { LivePorts } from '../wire/live-addresses.ts';
import type { PermitsOrigin } from '../wire/origin-warnings.ts';
import { createTimeFormat } from '../wire/time-format.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import type { Requester, Requesters } from './requester.ts';

export interface CallOptions {
  readonly db: Db;
  readonly listen: ListenAddress;
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly limits: ApiLimits;
  /** IANA name. */
  readonly timeZone: string;
  /** How often edges report their traffic. */
  readonly statSeconds: number;
  readonly domainStatusAs: 'int' | 'string';
  readonly cnameSuffix: string;
  /** Address of the console; absent: that of this listener, on `localhost`. */
  readonly consoleUrl?: string | undefined;
  /** Absent: people sign in here alone. */
  readonly provider?: ProviderSettings | undefined;
  readonly logs: LogOptions;
  /** Ports in the addresses of live streams. Absent: there are no addresses. */
  readonly livePorts?: LivePorts;
  /** Absent: no SMS engine runs in this process. */
  readonly sms?: SmsHooks;
  /** Posts to sinks, to try them; absent: nothing is posted. */
  readonly postToSink?: PostToSink;
  /** Metrics of all processes of this machine; absent: they are not known. */
  readonly readMetrics?: CallServices['readMetrics'];
  /** What this control was started with; absent: not known. */
  readonly settings?: CallServices['settings'];
  /** Absent: the operator named none. */
  readonly currency?: Currency | undefined;
  /** How far the time of a request to send may be off, either way; absent: 300 s. */
  readonly smsTimeWindowSeconds?: number;
  /** The controls that share the database; absent: this one is alone. */
  readonly peers?: Pick<Controls, 'seen' | 'obstacle'>;
  /** Whether this service obtains certificates; absent: no. */
  readonly obtainsCertificates?: boolean;
  /** Time after its end in which an edge's certificate may be renewed; absent: 30 days. */
  readonly fleetGraceMs?: number;
  /** Whether edges have certificates of the operator's own authority; absent: no. */
  readonly hasOwnFleetAuthority?: boolean;
  /** Whether edges with the settings of this service connect there; absent: yes. */
  readonly permitsOrigin?: PermitsOrigin;
  /** Questions to edges; absent: there are none. */
  readonly asks?: Pick<Asks, 'ask'>;
  /** Absent: only the name servers of this machine are asked, and no origin. */
  readonly checks?: CheckOptions;
  /** How new domains are approved. */
  readonly review: Review;
  /** Works as an operator's token, from this machine only. */
  readonly localSecret: string;
  readonly clock: Clock;
  /** Clock for rates: only goes forward. */
  readonly steadyClock: Clock;
  readonly log: Logger;
}

/** Options of log files and their downloads. */
interface LogOptions {
  readonly ring: Keyring;
  readonly blobs: BlobStore;
  /** Base address of downloads; absent: that of this listener. */
  readonly baseUrl?: string | undefined;
  /** How long an address can be used. */
  readonly hours: number;
}

export interface ApiLimits {
  readonly tokenRatePerSecond: number;
  readonly tokenRateBurst: number;
  readonly failedTokensPerMinute: number;
  /** URLs per account and day; the day begins in `timeZone`. A whole domain counts as a directory. */
  readonly purgeUrlsPerDay: number;
  readonly purgeDirectoriesPerDay: number;
  readonly prefetchUrlsPerDay: number;
  /** Absent: 100,000. */
  readonly domainsPerAccount?: number;
  /** Requests to send that wait to be accepted; absent: 5,000. */
  readonly smsWaiting?: number;
  /** Absent: 10,000. The list of them is one answer. */
  readonly certificatesPerAccount?: number;
}

export interface ReceivedCall {
  readonly name: RouteName;
  /** Parsed JSON. */
  readonly body: unknown;
  readonly requester: Requester;
  readonly requestId: string;
}

/** Never rejects. */
export type AnswerCall = (call: ReceivedCall) => Promise<CallAnswer>;

/** Time within which a log that is to be followed must be opened. */
const TAIL_OPEN_SECONDS = 60;
/** Time from the address of a preview to the end of both. */
const PREVIEW_SECONDS = 600;
const NO_CHECKS: CheckOptions = {
  resolvers: [],
  checkOrigin: async () => ({
    ...{ origin: '', address: '', connectMs: 0, tls: '', status: 0 },
    ...{ isCacheable: false, why: '' },
  }),
};
/** Some seconds of what a database takes. */
const SMS_WAITING = 5_000;
const SMS_TIME_WINDOW_SECONDS = 300;
const DOMAINS_PER_ACCOUNT = 100_000;
const FLEET_GRACE_MS = 30 * DAY_MS;
export const CERTIFICATES_PER_ACCOUNT = 10_000;

interface AnswerOptions extends CallOptions {
  readonly uses: Pick<Uses, 'note'>;
  readonly sessionUses: Pick<Uses, 'note'>;
}

/** `portOf`: that of the listener. */
export function createAnswerCall(options: AnswerOptions, requesters: Requesters, portOf: () => number): AnswerCall {
  const dispatch = openDispatch(options, portOf);
  return ({ name, body, requester, requestId }) =>
    dispatch({
      name,
      body,
      caller: requesters.callerOf(requester),
      locale: requesters.localeOf(requester),
      requestId,
      idempotencyKey: requester.idempotencyKey,
      now: options.clock(),
    });
}

function openDispatch(options: AnswerOptions, portOf: () => number): Dispatch {
  const { db, uses, sessionUses, steadyClock, log, limits, localSecret, peers = ALONE } = options;
  const controls = () => peers.seen;
  const { failedTokensPerMinute } = limits;
  const authenticate = createAuthenticate({ db, localSecret, failedTokensPerMinute, controls, steadyClock });
  const signIn = {
    authenticate,
    authenticateSession: createAuthenticateSession(db),
    consoleOrigin: () => consoleOriginOf(options, portOf),
  };
  return createDispatch({
    services: { ...createServices(options, portOf), ...signIn, passwords: createPasswords() },
    ...signIn,
    uses,
    sessionUses,
    steadyClock,
    controls,
    tokenRatePerSecond: limits.tokenRatePerSecond,
    tokenRateBurst: limits.tokenRateBurst,
    smsTimeWindowMs: (options.smsTimeWindowSeconds ?? SMS_TIME_WINDOW_SECONDS) * 1000,
    look: {
      domainStatusAs: options.domainStatusAs,
      cnameSuffix: options.cnameSuffix,
      formatTime: createTimeFormat(options.timeZone),
    },
    log,
  });
}

function createServices(options: CallOptions, portOf: () => number): Omit<CallServices, keyof SignInServices> {
  const { db, limits, log } = options;
  const days = createDays(options.timeZone);
  return {
    db,
    cnameSuffix: options.cnameSuffix,
    maxDomains: limits.domainsPerAccount ?? DOMAINS_PER_ACCOUNT,
    keyring: options.logs.ring,
    maxCertificates: limits.certificatesPerAccount ?? CERTIFICATES_PER_ACCOUNT,
    obtainsCertificates: options.obtainsCertificates ?? false,
    fleetGraceMs: options.fleetGraceMs ?? FLEET_GRACE_MS,
    hasOwnFleetAuthority: options.hasOwnFleetAuthority ?? false,
    permitsOrigin: options.permitsOrigin ?? (() => true),
    review: options.review,
    cacheLimits: {
      purgeUrls: limits.purgeUrlsPerDay,
      purgeDirectories: limits.purgeDirectoriesPerDay,
      prefetchUrls: limits.prefetchUrlsPerDay,
    },
    days,
    statSeconds: options.statSeconds,
    trafficRanks: new TrafficRanks(days),
    liveTraffic: new LiveTraffic({ db, asks: options.asks }),
    logSearches: new LogSearches(options.logs.blobs),
    sinkTests: createSinkTests(options.postToSink, options.steadyClock),
    livePorts: options.livePorts ?? {},
    timeZone: options.timeZone,
    hasSms: options.sms !== undefined,
    provider: options.provider && createProvider(options.provider, options.logs.ring, log),
    groupRoles: options.provider?.groups ?? [],
    checks: createChecks(options.checks ?? NO_CHECKS, options.steadyClock),
    asks: options.asks,
    currency: options.currency ?? NO_CURRENCY,
    readMetrics: options.readMetrics ?? (async () => undefined),
    settings: options.settings ?? [],
    ...createDownloadUrls(options, portOf),
    sms: createSmsServices({
      db,
      ring: options.logs.ring,
      hooks: options.sms,
      maxWaiting: limits.smsWaiting ?? SMS_WAITING,
      steadyClock: options.steadyClock,
      log,
    }),
  };
}

type SignInServices = Pick<CallServices, 'authenticate' | 'authenticateSession' | 'consoleOrigin' | 'passwords'>;

/** Scheme, host and port of the console. Passkeys need a name, which an IP address is not. */
function consoleOriginOf({ consoleUrl, tls }: CallOptions, portOf: () => number): string {
  return consoleUrl === undefined ? `${schemeOf(tls)}://localhost:${portOf()}` : new URL(consoleUrl).origin;
}

function schemeOf(tls: CallOptions['tls']): 'http' | 'https' {
  return tls === undefined ? 'http' : 'https';
}

/** Signed, and good for some hours. */
function createDownloadUrls({ logs, listen, tls }: CallOptions, portOf: () => number) {
  const { ring, baseUrl, hours } = logs;
  const scheme = schemeOf(tls);
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const base = () => baseUrl?.replace(/\/+$/, '') ?? `${scheme}://${host}:${portOf()}`;
  const expiryOf = (now: number) => Math.floor(now / 1000) + hours * 3600;
  return {
    logUrl: (file: LogFile, now: number) => base() + signedLogPath(ring, file, expiryOf(now)),
    recordingUrls: (recording: RecordingAddress, now: number) => {
      const { playlist, whole } = signedRecordingPaths(ring, recording, expiryOf(now));
      return { playlist: base() + playlist, whole: base() + whole };
    },
    tailUrl: (tail: TailAddress, now: number) => {
      const expires = Math.floor(now / 1000) + TAIL_OPEN_SECONDS;
      return { url: base() + signedTailPath(ring, tail, expires), expiresAt: expires * 1000 };
    },
    previewUrl: (preview: PreviewAddress, now: number) => {
      const expires = Math.floor(now / 1000) + PREVIEW_SECONDS;
      return { url: signedPreviewPath(ring, preview, expires), expiresAt: expires * 1000 };
    },
    urlsExpireAt: (now: number) => expiryOf(now) * 1000,
  };
}
