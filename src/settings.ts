/**
 * Every setting: its name, what it takes, its default, what it is for. Documented in docs/operations.md, and compared with
 * it; `config.ts` reads them.
 */
import { availableParallelism } from 'node:os';
import type { ListenAddress } from '#lib/listen-address.ts';
import { LOG_LEVELS, type LogLevel } from '#lib/logger.ts';
import {
  autoOr,
  byteSize,
  listenAddress,
  listOf,
  network,
  oneOf,
  orOff,
  path,
  postgresUrl,
  textThat,
  textWhere,
  timeZone,
  wholeNumber,
  zeroOr,
} from '#lib/setting-reader.ts';
import type { Setting } from '#lib/settings.ts';

type RoleName = 'control' | 'edge';

/** The value of each setting. Its name in the file and as a flag is the key in kebab-case. */
export interface Values {
  readonly dataDir: string;
  readonly keyring?: string;
  readonly roles: readonly RoleName[];
  readonly databaseUrl?: string;
  readonly databaseListenUrl?: string;
  readonly controlListen: ListenAddress;
  readonly controlTlsCert?: string;
  readonly controlTlsKey?: string;
  readonly trustedProxies: readonly string[];
  readonly metricsListen: ListenAddress;
  readonly edgeHttpListen: ListenAddress;
  readonly edgeHttpsListen: ListenAddress | 'off';
  readonly edgeTrustedProxies: readonly string[];
  readonly edgeProxyProtocol: 'off' | 'required';
  readonly edgeWorkers: number;
  readonly edgeId: string;
  readonly feedSocket?: string;
  readonly cacheMemory: number;
  readonly cacheDisk?: string;
  readonly cacheDiskSize: number;
  readonly bufferDiskSize: number;
  readonly originAllow: readonly string[];
  readonly originVerify: 'names' | 'always' | 'never';
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
  readonly accessLog: 'on' | 'off';
  readonly logRotateSeconds: number;
  readonly logSpool: number;
  readonly logStore: string;
  readonly logS3Endpoint?: string;
  readonly logS3Region: string;
  readonly logS3AccessKey?: string;
  readonly logS3SecretKey?: string;
  readonly statSeconds: number;
  readonly logDays: number;
  readonly logUrl?: string;
  readonly logUrlHours: number;
  readonly logLevel: LogLevel;
  readonly bootstrapToken?: string;
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

type Settings = { readonly [K in keyof Required<Values>]: Setting<Required<Values>[K]> };

const token = textThat('at least 32 printable characters without spaces', /^[\x21-\x7e]{32,512}$/);
const controlUrl = textWhere(
  'http:// or https:// and a host',
  (text) => /^https?:\/\/[^\s/@]+\/?$/.test(text) && URL.canParse(text),
);

export const SETTINGS: Settings = {
  dataDir: { reader: path(), default: './data', description: 'Where everything is kept that is not in PostgreSQL' },
  roles: {
    reader: listOf(oneOf(['control', 'edge']), 1, 2),
    default: 'control,edge',
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
  edgeHttpListen: {
    reader: listenAddress(),
    default: '[::]:8080',
    description: 'HTTP for viewers; `[::]` takes IPv4 too, and is 0.0.0.0 on a machine without IPv6',
  },
  edgeHttpsListen: {
    reader: orOff(listenAddress()),
    default: '[::]:8443',
    description: 'HTTPS for viewers, over HTTP/2 and HTTP/1.1; `[::]` as above, `off`: none',
  },
  edgeTrustedProxies: {
    reader: listOf(network(), 0, 256),
    default: '',
    description:
      "Proxies before the edge that are believed whose a request is, and whether its client's connection is by TLS",
  },
  edgeProxyProtocol: {
    reader: oneOf(['off', 'required']),
    default: 'off',
    description: '`required`: connections of those proxies begin with a header of the PROXY protocol, version 1 or 2',
  },
  edgeWorkers: {
    reader: autoOr(wholeNumber(1, 256), Math.min(256, availableParallelism())),
    default: 'auto',
    unit: 'processes',
    description: 'Edge worker processes; `auto`: one per core',
  },
  edgeId: {
    reader: textThat('1 to 63 letters, digits, dots and hyphens', /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i),
    default: 'local',
    description: 'The name under which this edge reports; each edge needs one of its own',
  },
  feedSocket: {
    reader: path(),
    description: 'Unix socket of the feed, at most 100 bytes; without it `run/feed.sock` in the data directory',
  },
  cacheMemory: {
    reader: zeroOr(byteSize('1MB', '1024GB')),
    default: '256MB',
    description:
      'Memory for cached responses and for those on their way in, shared out among the edge workers; 0: only what is on disk',
  },
  cacheDisk: {
    reader: path(),
    description: 'Directory for cached responses, of this service alone; without it `cache` in the data directory',
  },
  cacheDiskSize: {
    reader: zeroOr(byteSize('1MB', '1024GB')),
    default: '10GB',
    description: 'Disk for cached responses, shared by the edge workers; 0: none',
  },
  bufferDiskSize: {
    reader: zeroOr(byteSize('1MB', '1024GB')),
    default: '4GB',
    description:
      'Disk in the data directory for bodies of requests until they are whole, and of answers for slow clients, shared out among the edge workers; 0: none',
  },
  originAllow: {
    reader: listOf(network(), 0, 256),
    default: '',
    description: 'Private addresses that an origin may have in spite of the guard',
  },
  originVerify: {
    reader: oneOf(['names', 'always', 'never']),
    default: 'names',
    description: 'Whose certificates are verified over TLS: origins given by `names`, all of them, or none',
  },
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
  accessLog: {
    reader: oneOf(['on', 'off']),
    default: 'on',
    description: '`off`: an edge writes no access log and counts no traffic: no log files, no statistics',
  },
  logRotateSeconds: {
    reader: wholeNumber(1, 3600),
    default: '3600',
    unit: 'seconds',
    description:
      'Age at which an edge ends a file of its access log and hands it to control; every full hour ends one too',
  },
  logSpool: {
    reader: byteSize('64MB', '1024GB'),
    default: '8GB',
    description: 'Disk for access-log files that wait for control, for all edge workers together; the oldest go first',
  },
  logStore: {
    reader: textThat(
      'local, or s3://bucket or s3://bucket/prefix',
      /^(local|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]{1,64}){0,4})$/,
    ),
    default: 'local',
    description: 'Where control keeps log files: `local` in the data directory, or storage that speaks S3',
  },
  logS3Endpoint: {
    reader: controlUrl,
    description: 'Of that storage; the bucket is part of the path',
  },
  logS3Region: {
    reader: textThat('letters, digits and hyphens', /^[a-z0-9-]{1,64}$/),
    default: 'us-east-1',
    description: 'Of that storage',
  },
  logS3AccessKey: {
    reader: textThat('an access key', /^[\x21-\x7e]{1,256}$/),
    secret: true,
    description: 'For that storage',
  },
  logS3SecretKey: {
    reader: textThat('a secret key', /^[\x21-\x7e]{1,256}$/),
    secret: true,
    description: 'For that storage',
  },
  statSeconds: {
    reader: wholeNumber(1, 3600),
    default: '30',
    unit: 'seconds',
    description: 'How often an edge reports its traffic to control',
  },
  logDays: {
    reader: wholeNumber(1, 3650),
    default: '30',
    unit: 'days',
    description: 'How long log files are kept',
  },
  logUrl: {
    reader: textWhere(
      'http:// or https://, a host, and perhaps a path',
      (text) => /^https?:\/\/[^\s/@?#]+(\/[^\s?#]*)?$/.test(text) && URL.canParse(text),
    ),
    description: 'Base address of log downloads in answers; without it that of the control listener',
  },
  logUrlHours: {
    reader: wholeNumber(1, 168),
    default: '24',
    unit: 'hours',
    description: 'How long the address of a log download can be used',
  },
  logLevel: { reader: oneOf(LOG_LEVELS), default: 'info', description: 'Least important log lines that are written' },
  bootstrapToken: {
    reader: token,
    secret: true,
    description: 'The first access token, used when there is no account yet; without it one is made',
  },
  url: {
    reader: controlUrl,
    description: 'Where commands find control; without it the service that runs from the data directory',
  },
  token: {
    reader: textThat('an access token', /^[\x21-\x7e]{1,512}$/),
    secret: true,
    description: 'Access token of commands',
  },
  tokenFile: { reader: path(), description: 'File that holds the access token of commands' },
};
