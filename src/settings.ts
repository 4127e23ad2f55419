/**
 * Every setting: its name, what it takes, its default, what it is for. Documented in docs/operations.md, and compared with
 * it; `config.ts` reads them.
 */
import type { ListenAddress } from '#lib/listen-address.ts';
import { LOG_LEVELS, type LogLevel } from '#lib/logger.ts';
import {
  listenAddress,
  listOf,
  network,
  oneOf,
  path,
  postgresUrl,
  serverUrl,
  textThat,
  textWhere,
  timeZone,
  wholeNumber,
} from '#lib/setting-reader.ts';
import type { SettingTable } from '#lib/settings.ts';
import { EDGE_SETTINGS, type EdgeValues } from './settings-edge.ts';
import { LIVE_SETTINGS, type LiveValues } from './settings-live.ts';
import { LOG_SETTINGS, type LogValues } from './settings-logs.ts';

type RoleName = 'control' | 'edge' | 'live';

/** The value of each setting. Its name in the file and as a flag is the key in kebab-case. */
export interface Values extends EdgeValues, LiveValues, LogValues {
  readonly dataDir: string;
  readonly roles: readonly RoleName[];
  readonly keyring?: string;
  readonly databaseUrl?: string;
  readonly databaseListenUrl?: string;
  readonly controlListen: ListenAddress;
  readonly controlTlsCert?: string;
  readonly controlTlsKey?: string;
  readonly trustedProxies: readonly string[];
  readonly metricsListen: ListenAddress;
  readonly smsWebhookAllow: readonly string[];
  readonly smsTimeWindowSeconds: number;
  readonly smsChargeAt: 'submit' | 'receipt';
  readonly smsDays: number;
  readonly acmeDirectory?: string;
  readonly acmeEmail?: string;
  readonly acmeCa?: string;
  readonly acmeEabKeyId?: string;
  readonly acmeEabMacKey?: string;
  readonly cnameSuffix: string;
  readonly review: 'auto' | 'manual';
  readonly locale: 'zh-CN' | 'en';
  readonly timeZone: string;
  readonly domainStatusAs: 'int' | 'string';
  readonly tokenRatePerSecond: number;
  readonly tokenRateBurst: number;
  readonly failedTokensPerMinute: number;
  readonly purgeUrlsPerDay: number;
  readonly purgeDirectoriesPerDay: number;
  readonly prefetchUrlsPerDay: number;
  readonly logLevel: LogLevel;
  readonly bootstrapToken?: string;
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

const token = textThat('at least 32 printable characters without spaces', /^[\x21-\x7e]{32,512}$/);

export const SETTINGS: SettingTable<Values> = {
  dataDir: { reader: path(), default: './data', description: 'Where everything is kept that is not in PostgreSQL' },
  roles: {
    reader: listOf(oneOf(['control', 'edge', 'live']), 1, 3),
    default: 'control,edge,live',
    description: 'What this machine runs',
  },
  keyring: {
    reader: path(),
    description:
      'File of the keys that stored secrets are sealed with, apart from their backups; without it `keyring` in the data directory',
  },
  databaseUrl: {
    reader: postgresUrl(),
    env: 'DATABASE_URL',
    secret: true,
    description: 'PostgreSQL 15 or later; without it SQLite in the data directory',
  },
  databaseListenUrl: {
    reader: postgresUrl(),
    env: 'DATABASE_LISTEN_URL',
    secret: true,
    description:
      'Needed behind a pooler that pools transactions: goes round it, for LISTEN, and says that there is one; without it `database-url`',
  },
  controlListen: {
    reader: listenAddress(),
    default: '127.0.0.1:8700',
    description:
      'Management and SMS interface, `/healthz`, `/readyz`; not on loopback only with TLS or trusted proxies',
  },
  controlTlsCert: { reader: path(), description: 'Certificate chain of control (PEM file)' },
  controlTlsKey: { reader: path(), description: 'Private key of control (PEM file)' },
  trustedProxies: {
    reader: listOf(network(), 0, 64),
    default: '',
    description: 'Proxies before control whose X-Forwarded-For is believed',
  },
  metricsListen: { reader: listenAddress(), default: '127.0.0.1:8701', description: '`/metrics` for Prometheus' },
  ...EDGE_SETTINGS,
  ...LIVE_SETTINGS,
  smsWebhookAllow: {
    reader: listOf(network(), 0, 256),
    default: '',
    description: 'Private addresses that receipts and replies of SMS may be posted to in spite of the guard',
  },
  smsTimeWindowSeconds: {
    reader: wholeNumber(1, 86_400),
    default: '300',
    description: 'How many seconds the `time` of an SMS request may be off from the time of the service, either way',
  },
  smsChargeAt: {
    reader: oneOf(['submit', 'receipt']),
    default: 'submit',
    description:
      'When an SMS is charged: `submit`, when a carrier takes it; `receipt`, when its receipt says that it is delivered, else it is given back',
  },
  smsDays: {
    // Longer than a message may wait and its receipt be waited for.
    reader: wholeNumber(14, 3650),
    default: '180',
    unit: 'days',
    description: 'How long requests, receipts and replies of SMS are kept; the ledger is kept for ever',
  },
  acmeDirectory: {
    reader: textWhere(
      'https:// and the address of a directory',
      (text) => /^https:\/\/[^\s/@?#]+(\/[^\s?#]*)?(#[\w-]{1,32})?$/.test(text) && URL.canParse(text),
    ),
    description:
      'Directory of the certificate authority (ACME) that certificates are obtained from, whose terms are agreed to with it; without it none are. A word behind # is another account there',
  },
  acmeEmail: {
    reader: textThat('an e-mail address', /^[^\s@,?]{1,64}@[^\s@,?]{1,190}$/),
    description: 'Where that authority can write to',
  },
  acmeCa: {
    reader: path(),
    description: 'Who vouches for that authority over TLS (PEM file); without it those whom the system trusts',
  },
  acmeEabKeyId: {
    reader: textThat('a key identifier', /^[\x21-\x7e]{1,256}$/),
    description:
      'Key identifier of your account at that authority, where it asks for External Account Binding; with acme-eab-mac-key',
  },
  acmeEabMacKey: {
    reader: textThat('a key in base64url', /^[\w+/-]{16,512}={0,2}$/),
    secret: true,
    description: 'MAC key that the authority gave with it',
  },
  cnameSuffix: {
    reader: textThat('a domain name in lower case', /^(?=.{1,200}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/),
    default: 'cdn.localhost',
    description: "What is appended to a domain's name to make its CNAME",
  },
  review: {
    reader: oneOf(['auto', 'manual']),
    default: 'auto',
    description: 'Who decides on new domains: `auto` approves them at once, `manual` waits for an operator',
  },
  locale: { reader: oneOf(['zh-CN', 'en']), default: 'zh-CN', description: 'Language of answers that ask for none' },
  timeZone: {
    reader: timeZone(),
    default: 'Asia/Shanghai',
    description: 'Governs create_time, log times and where a day begins',
  },
  domainStatusAs: {
    reader: oneOf(['int', 'string']),
    default: 'int',
    description: 'Type of domain_status in answers',
  },
  tokenRatePerSecond: {
    reader: wholeNumber(1, 100_000),
    default: '50',
    unit: 'requests a second',
    description: 'Requests that one access token may make',
  },
  tokenRateBurst: {
    reader: wholeNumber(1, 1_000_000),
    default: '100',
    unit: 'requests',
    description: 'Requests that one access token may make at once',
  },
  failedTokensPerMinute: {
    reader: wholeNumber(1, 100_000),
    default: '10',
    unit: 'requests a minute',
    description:
      'Unknown access tokens that one address may send before it is told to wait; good ones from there are always served',
  },
  purgeUrlsPerDay: {
    reader: wholeNumber(0, 100_000_000),
    default: '10000',
    unit: 'URLs a day',
    description: 'URLs that one account may purge',
  },
  purgeDirectoriesPerDay: {
    reader: wholeNumber(0, 100_000_000),
    default: '100',
    unit: 'directories a day',
    description: 'Directories and whole domains that one account may purge',
  },
  prefetchUrlsPerDay: {
    reader: wholeNumber(0, 100_000_000),
    default: '1000',
    unit: 'URLs a day',
    description: 'URLs that one account may prefetch',
  },
  ...LOG_SETTINGS,
  logLevel: { reader: oneOf(LOG_LEVELS), default: 'info', description: 'Least important log lines that are written' },
  bootstrapToken: {
    reader: token,
    secret: true,
    description: 'The first access token, used when there is no account yet; without it one is made',
  },
  url: {
    reader: serverUrl(),
    description: 'Where commands find control; without it the service that runs from the data directory',
  },
  token: {
    reader: textThat('an access token', /^[\x21-\x7e]{1,512}$/),
    secret: true,
    description: 'Access token of commands',
  },
  tokenFile: { reader: path(), description: 'File that holds the access token of commands' },
};
