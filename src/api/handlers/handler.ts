/** The interface of handlers of operations. */
import type { RouteName } from '#contract/routes.ts';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { CacheAmounts } from '#db/tables/cache-tasks.ts';
import type { OwnDomains } from '#db/tables/domain-filter.ts';
import type { Asks } from '#feed/publish/asks.ts';
import type { SettingInForce } from '#lib/settings.ts';
import type { Days } from '#logs/day.ts';
import type { LogFile } from '#logs/download.ts';
import type { RecordingAddress } from '#logs/recordings/address.ts';
import type { TailAddress } from '#logs/tail/address.ts';
import type { Currency } from '#model/currency.ts';
import type { GroupRole } from '#model/person.ts';
import type { Review } from '#model/transition.ts';
import type { Authenticate, Caller, Principal } from '../auth/authenticate.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { Provider } from '../auth/provider.ts';
import type { AuthenticateSession } from '../auth/sessions.ts';
import type { Checks } from '../checks/checks.ts';
import type { PreviewAddress } from '../previews/preview-address.ts';
import type { SmsServices } from '../sms/sms-services.ts';
import type { LiveTraffic } from '../views/live-traffic.ts';
import type { LogSearches } from '../views/log-searches.ts';
import type { SinkTests } from '../views/sink-tests.ts';
import type { TrafficRanks } from '../views/traffic-ranks.ts';
import type { LivePorts } from '../wire/live-addresses.ts';
import type { PermitsOrigin } from '../wire/origin-warnings.ts';
import type { InputOf, ResultOf } from '../wire/wire.ts';
import type { OwnMetrics } from '../wire/wire-health.ts';
import type { RecordingUrls } from '../wire/wire-recordings.ts';

/** Services that all calls share. */
export interface CallServices {
  readonly db: Db;
  /** What the service's aliases end in. */
  readonly cnameSuffix: string;
  readonly review: Review;
  /** Whether edges with the settings of this service connect there. */
  readonly permitsOrigin: PermitsOrigin;
  /** Domains that an account can have; in a call, the caller's. */
  readonly maxDomains: number;
  readonly keyring: Keyring;
  /** Certificates that an account can have. */
  readonly maxCertificates: number;
  /** Whether this service obtains certificates. */
  readonly obtainsCertificates: boolean;
  /** Days in the service's time zone. */
  readonly days: Days;
  /** How often edges report their traffic, in seconds. */
  readonly statSeconds: number;
  /** Where a log file can be downloaded from `now` on, for a while. */
  readonly logUrl: (file: LogFile, now: number) => string;
  readonly livePorts: LivePorts;
  /** Time zone of the service, IANA name. */
  readonly timeZone: string;
  /** Whether an SMS engine runs in this process. */
  readonly hasSms: boolean;
  /** The identity provider that people may sign in by; absent: there is none. */
  readonly provider: Provider | undefined;
  /** Roles that its groups give. */
  readonly groupRoles: readonly GroupRole[];
  /** Knows callers by their access tokens, and counts unknown ones. */
  readonly authenticate: Authenticate;
  readonly authenticateSession: AuthenticateSession;
  readonly passwords: Passwords;
  /** Scheme, host and port of the console. */
  readonly consoleOrigin: () => string;
  /** Where a recording can be played and downloaded from `now` on, for a while. */
  readonly recordingUrls: (recording: RecordingAddress, now: number) => RecordingUrls;
  /** When addresses that are signed at `now` expire, epoch milliseconds. */
  readonly urlsExpireAt: (now: number) => number;
  readonly sms: SmsServices;
  readonly currency: Currency;
  /** Metrics of all processes of this machine; `undefined`: the service does not answer. */
  readonly readMetrics: () => Promise<OwnMetrics | undefined>;
  /** What this control was started with. */
  readonly settings: readonly SettingInForce[];
  /** Time after its end in which an edge's certificate may be renewed. */
  readonly fleetGraceMs: number;
  /** Whether edges have certificates of the operator's own authority, and so no tokens. */
  readonly hasOwnFleetAuthority: boolean;
  readonly checks: Checks;
  /** Questions to edges; absent: there are none. */
  readonly asks: Pick<Asks, 'ask'> | undefined;
  /** Where a log can be followed, from `now` on for a minute, and until when it can be opened. */
  readonly tailUrl: (tail: TailAddress, now: number) => { readonly url: string; readonly expiresAt: number };
  /** Where a session can play a stream, from `now` on until `expiresAt`: path and query. */
  readonly previewUrl: (preview: PreviewAddress, now: number) => { readonly url: string; readonly expiresAt: number };
  /** What an account may order in a day. */
  readonly cacheLimits: CacheAmounts;
  readonly trafficRanks: Pick<TrafficRanks, 'get'>;
  readonly liveTraffic: Pick<LiveTraffic, 'get'>;
  readonly logSearches: Pick<LogSearches, 'run'>;
  /** Tries sinks of log lines. */
  readonly sinkTests: SinkTests;
}

/** One authorized call of an operation. The domains are those that the caller's token reaches. */
export interface Call extends CallServices, OwnDomains {
  /** Limits of the service, where those of the caller's account are not meant. */
  readonly services: Pick<CallServices, 'maxDomains' | 'cacheLimits'>;
  readonly now: number;
  /** Id of the token; 0: the command line of this machine, or a person. */
  readonly tokenId: number;
  /** What the call is authenticated by. */
  readonly by: Principal;
  /** The caller as events name it: `token:7`, `person:3`; `token:0` is the command line of this machine. */
  readonly actor: string;
  readonly caller: Caller;
  readonly requestId: string;
  /** The client's address, as trusted proxies tell it. */
  readonly address: string;
  /** Revision of the domain's settings that the caller has read; only operations that change one take it. */
  readonly ifRevision: number | undefined;
}

/** Throws `ServiceError` for what the caller did wrong; anything else that is thrown is our fault. */
export type Handler<N extends RouteName> = (call: Call, input: InputOf<N>) => Promise<ResultOf<N>>;
