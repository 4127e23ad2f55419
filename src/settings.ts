/**
 * Every setting: its name, what it takes, its default, what it is for. Documented in docs/operations.md, and compared with
 * it; `config.ts` reads them.
 */
import { LOG_LEVELS } from '#lib/logger.ts';
import {
  currency,
  listenAddress,
  listOf,
  nameServer,
  network,
  oneOf,
  path,
  postgresUrl,
  serverUrl,
  textThat,
  timeZone,
  urlThat,
  wholeNumber,
} from '#lib/setting-reader.ts';
import type { ConfigTable, ValuesOf } from '#lib/settings.ts';
import { DNS_SETTINGS } from './settings-dns.ts';
import { EDGE_SETTINGS } from './settings-edge.ts';
import { FLEET_SETTINGS } from './settings-fleet.ts';
import { LIVE_SETTINGS } from './settings-live.ts';
import { LOG_SETTINGS } from './settings-logs.ts';
import { PEOPLE_SETTINGS } from './settings-people.ts';

const token = textThat('at least 32 printable characters without spaces', /^[\x21-\x7e]{32,512}$/);

export const SETTINGS = {
  dataDir: { reader: path(), default: './data', description: 'Directory for all data that is not in PostgreSQL' },
  roles: {
    reader: listOf(oneOf(['control', 'edge', 'live', 'dns']), 1, 4),
    default: 'control,edge,live,dns',
    description: 'Roles of this machine',
  },
  keyring: {
    reader: path(),
    description:
      'File with the keys that encrypt stored secrets, kept apart from database backups; by default `keyring` in the data directory',
  },
  databaseUrl: {
    reader: postgresUrl(),
    env: 'DATABASE_URL',
    secret: true,
    description: 'PostgreSQL 15 or later; by default SQLite in the data directory',
  },
  databaseListenUrl: {
    reader: postgresUrl(),
    env: 'DATABASE_LISTEN_URL',
    secret: true,
    description:
      'Direct connection for LISTEN, required if `database-url` points to a pooler in transaction mode; by default `database-url`',
  },
  databaseSynchronous: {
    reader: oneOf(['any', 'required']),
    default: 'any',
    description:
      '`required`: control starts only if a standby of PostgreSQL confirms each commit; otherwise it says in the log that none does',
  },
  backupDirectory: {
    reader: path(),
    description: 'Directory for the files of "causeway db backup"; by default there are no backups',
  },
  backupKeep: {
    reader: wholeNumber(1, 10_000),
    default: '14',
    unit: 'backups',
    description: 'How many backups are kept in backup-directory; the oldest are removed',
  },
  controlListen: {
    reader: listenAddress(),
    default: '127.0.0.1:8700',
    description:
      'Management and SMS API, `/healthz`, `/readyz`; an address other than loopback requires TLS or trusted proxies',
  },
  ...PEOPLE_SETTINGS,
  stopDelaySeconds: {
    reader: wholeNumber(0, 60),
    default: '5',
    unit: 'seconds',
    description:
      'How long control answers `/readyz` with 503 before it closes, so that a load balancer stops sending requests; only if other controls share the database',
  },
  controlTlsCert: { reader: path(), description: 'Certificate chain of control (PEM file)' },
  controlTlsKey: { reader: path(), description: 'Private key of control (PEM file)' },
  trustedProxies: {
    reader: listOf(network(), 0, 64),
    default: '',
    description: 'Proxies in front of control whose X-Forwarded-For is trusted',
  },
  console: {
    reader: oneOf(['on', 'off']),
    default: 'on',
    description: 'Whether control serves the console, a web application for customers and operators, at `/console/`',
  },
  metricsListen: { reader: listenAddress(), default: '127.0.0.1:8701', description: '`/metrics` for Prometheus' },
  ...EDGE_SETTINGS,
  ...FLEET_SETTINGS,
  ...DNS_SETTINGS,
  ...LIVE_SETTINGS,
  checkResolvers: {
    reader: listOf(nameServer(), 0, 4),
    default: '',
    description: 'Name servers that `domain check` asks where a name points; by default those of this machine',
  },
  smsWebhookAllow: {
    reader: listOf(network(), 0, 256),
    default: '',
    description:
      "Private addresses that customers' webhooks (SMS receipts and replies, events) may be posted to; others are blocked",
  },
  smsTimeWindowSeconds: {
    reader: wholeNumber(1, 86_400),
    default: '300',
    description:
      'Maximum difference in seconds, either way, between the `time` of an SMS request and the clock of the service',
  },
  smsChargeAt: {
    reader: oneOf(['submit', 'receipt']),
    default: 'submit',
    description:
      'When an SMS is charged: `submit`, when a carrier accepts it; `receipt`, when its receipt reports delivery (otherwise it is refunded)',
  },
  smsCurrency: {
    reader: currency(),
    description:
      'Currency of SMS prices and balances, for those who read them, such as CNY; CNY/1000 says that the smallest unit is a thousandth. Without it amounts have no currency',
  },
  smsBalanceNear: {
    reader: wholeNumber(0, 1_000_000_000_000),
    default: '0',
    description:
      'Balance of an account, in the smallest unit, below which there is an event (quota.near); 0: there is none',
  },
  smsDays: {
    // Longer than a message may wait and its receipt be waited for.
    reader: wholeNumber(14, 3650),
    default: '180',
    unit: 'days',
    description: 'How long SMS requests, receipts and replies are kept; the ledger is kept forever',
  },
  auditDays: {
    reader: wholeNumber(30, 3650),
    default: '400',
    unit: 'days',
    description: 'How long the audit trail is kept',
  },
  acmeDirectory: {
    reader: urlThat('https:// and the address of a directory', /^https:\/\/[^\s/@?#]+(\/[^\s?#]*)?(#[\w-]{1,32})?$/),
    description:
      'Directory URL of the certificate authority (ACME) to obtain certificates from; setting it accepts the terms of the authority. Without it no certificates are obtained. A word after # selects a separate account',
  },
  acmeEmail: {
    reader: textThat('an e-mail address', /^[^\s@,?]{1,64}@[^\s@,?]{1,190}$/),
    description: 'Contact address for the authority',
  },
  acmeCa: {
    reader: path(),
    description:
      'CA certificates to verify the TLS certificate of the authority with (PEM file); by default those of the system',
  },
  acmeEabKeyId: {
    reader: textThat('a key identifier', /^[\x21-\x7e]{1,256}$/),
    description:
      'Key identifier for External Account Binding, if the authority requires it; together with acme-eab-mac-key',
  },
  acmeEabMacKey: {
    reader: textThat('a key in base64url', /^[\w+/-]{16,512}={0,2}$/),
    secret: true,
    description: 'MAC key for External Account Binding',
  },
  cnameSuffix: {
    reader: textThat('a domain name in lower case', /^(?=.{1,200}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/),
    default: 'cdn.localhost',
    description: "Suffix appended to a domain's name to form its CNAME",
  },
  review: {
    reader: oneOf(['auto', 'manual']),
    default: 'auto',
    description: 'Review of new domains: `auto` approves them at once, `manual` waits for an operator',
  },
  locale: {
    reader: oneOf(['zh-CN', 'en']),
    default: 'zh-CN',
    description: 'Language of answers if the request does not specify one',
  },
  timeZone: {
    reader: timeZone(),
    default: 'Asia/Shanghai',
    description: 'Time zone of create_time, log times and day boundaries',
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
    description: 'Rate limit per access token',
  },
  tokenRateBurst: {
    reader: wholeNumber(1, 1_000_000),
    default: '100',
    unit: 'requests',
    description: 'Burst of requests allowed per access token',
  },
  failedTokensPerMinute: {
    reader: wholeNumber(1, 100_000),
    default: '10',
    unit: 'requests a minute',
    description:
      'Requests with invalid access tokens allowed per address before it is throttled; requests with valid tokens are not affected',
  },
  purgeUrlsPerDay: {
    reader: wholeNumber(0, 100_000_000),
    default: '10000',
    unit: 'URLs a day',
    description: 'Limit of URL purges per account',
  },
  purgeDirectoriesPerDay: {
    reader: wholeNumber(0, 100_000_000),
    default: '100',
    unit: 'directories a day',
    description: 'Limit of directory and whole-domain purges per account',
  },
  prefetchUrlsPerDay: {
    reader: wholeNumber(0, 100_000_000),
    default: '1000',
    unit: 'URLs a day',
    description: 'Limit of URL prefetches per account',
  },
  ...LOG_SETTINGS,
  logLevel: { reader: oneOf(LOG_LEVELS), default: 'info', description: 'Minimum level of log lines' },
  bootstrapToken: {
    reader: token,
    secret: true,
    description: 'The first access token, used while there is no account; by default one is generated',
  },
  url: {
    reader: serverUrl(),
    description: 'URL of control for commands; by default the service running from the data directory',
  },
  token: {
    reader: textThat('an access token', /^[\x21-\x7e]{1,512}$/),
    secret: true,
    description: 'Access token for commands',
  },
  tokenFile: { reader: path(), description: 'File that contains the access token for commands' },
} satisfies ConfigTable;

/** The value of each setting. Its name in the file and as a flag is the key in kebab-case. */
export type Values = ValuesOf<typeof SETTINGS>;
