/**
 * Every setting: what it takes, where it comes from, what is in force. Nothing else reads the environment or the settings
 * file. Defaults < causeway.toml < environment < flags; all problems are reported at once. Documented in docs/operations.md.
 */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { isLoopback, type ListenAddress } from '#lib/listen-address.ts';
import { LOG_LEVELS, type LogLevel } from '#lib/logger.ts';
import {
  autoOr,
  byteSize,
  listenAddress,
  listOf,
  network,
  oneOf,
  path,
  postgresUrl,
  textThat,
  textWhere,
  timeZone,
  wholeNumber,
} from '#lib/setting-reader.ts';
import {
  DEFAULT_SOURCE,
  type Environment,
  gatherTexts,
  isSettingVariable,
  type Problem,
  type Setting,
  type SettingInForce,
  type SettingSources,
  type SettingsFile,
  settingName,
  showSettings,
} from '#lib/settings.ts';
import { readTextFile } from '#lib/text-file.ts';

export type RoleName = 'control' | 'edge';

/** The value of each setting. Its name in the file and as a flag is the key in kebab-case. */
interface Values {
  readonly dataDir: string;
  readonly roles: readonly RoleName[];
  readonly databaseUrl?: string;
  readonly databaseListenUrl?: string;
  readonly controlListen: ListenAddress;
  readonly controlTlsCert?: string;
  readonly controlTlsKey?: string;
  readonly trustedProxies: readonly string[];
  readonly metricsListen: ListenAddress;
  readonly edgeHttpListen: ListenAddress;
  readonly edgeTrustedProxies: readonly string[];
  readonly edgeProxyProtocol: 'off' | 'required';
  readonly edgeWorkers: number;
  readonly edgeId: string;
  readonly feedSocket?: string;
  readonly cacheMemory: number;
  readonly cacheDisk?: string;
  readonly cacheDiskSize: number;
  readonly originAllow: readonly string[];
  readonly originVerify: 'names' | 'always' | 'never';
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

/** What the parts are started with. Plain data: it travels to the child processes by message. */
export interface Config
  extends Omit<
    Values,
    | 'feedSocket'
    | 'controlTlsCert'
    | 'controlTlsKey'
    | 'cacheMemory'
    | 'cacheDisk'
    | 'cacheDiskSize'
    | 'token'
    | 'tokenFile'
  > {
  readonly feedSocket: string;
  /** PEM texts; present when control speaks TLS. */
  readonly controlTls?: { readonly cert: string; readonly key: string };
  /** For all edge workers of this machine together. */
  readonly cacheMemoryBytes: number;
  /** Shared by them. */
  readonly cacheDirectory: string;
  /** 0: nothing is kept on disk. */
  readonly cacheDiskBytes: number;
  /** The access token of commands that call a service, from `token` or `token-file`. */
  readonly token?: string;
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
    description: 'For LISTEN, to go round a pooler that pools transactions; without it `database-url`',
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
    reader: byteSize('0', '1024GB'),
    default: '256MB',
    description:
      'Memory for cached responses and for those on their way in, shared out among the edge workers; 0: only what is on disk',
  },
  cacheDisk: {
    reader: path(),
    description: 'Directory for cached responses, of this service alone; without it `cache` in the data directory',
  },
  cacheDiskSize: {
    reader: byteSize('0', '1024GB'),
    default: '10GB',
    description: 'Disk for cached responses, shared by the edge workers; 0: none',
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
    description: 'Wrong access tokens that one address may send',
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

/** Variables that belong to the tests of this repository and are no settings. */
const FOREIGN_PREFIX = 'CAUSEWAY_TEST_';

/** A unix socket's address is 108 bytes on Linux and 104 elsewhere; some room for what is appended. */
const MAX_SOCKET_PATH_BYTES = 100;

export interface ConfigInput extends SettingSources {
  /** Relative paths begin here. */
  readonly cwd: string;
}

export type Loaded =
  | { readonly kind: 'config'; readonly config: Config; readonly sources: readonly SettingInForce[] }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** Takes every setting out of the process's environment, so that no child process inherits a secret. */
export function takeEnvironment(): Environment {
  const ours = Object.keys(process.env).filter(
    (name) => isSettingVariable(SETTINGS, name) && !name.startsWith(FOREIGN_PREFIX),
  );
  const taken = Object.fromEntries(ours.map((name) => [name, process.env[name]]));
  for (const name of ours) delete process.env[name];
  return taken;
}

/** For a child process: what this one has, and `added`. */
export function environmentWith(added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...added };
}

/** Reads the file that is named, which must be there, else `causeway.toml` in `cwd` if there is one. */
export function readSettingsFile(named: string | undefined, cwd: string): SettingsFile | Problem | undefined {
  const path = resolve(cwd, named ?? 'causeway.toml');
  const file = readTextFile(path);
  if (file.kind === 'text') return { path, text: file.text };
  if (named === undefined && file.code === 'ENOENT') return undefined;
  return { setting: 'config', source: path, problem: `cannot be read: ${file.code}` };
}

export function loadConfig(input: ConfigInput): Loaded {
  const { texts, problems } = gatherTexts(SETTINGS, input);
  const refuse: Refuse = (key, problem) =>
    problems.push({ setting: settingName(key), source: texts.get(key)?.source ?? DEFAULT_SOURCE, problem });
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(SETTINGS)) {
    const given = texts.get(key);
    if (given === undefined) continue;
    values[key] = setting.reader.read(given.text);
    const got = setting.secret === true ? '' : `, not ${JSON.stringify(given.text)}`;
    if (values[key] === undefined) refuse(key, `expected ${setting.reader.expected}${got}`);
  }
  if (problems.length > 0) return { kind: 'problems', problems };
  // Each value came from the reader of its own key, and every key of `Values` without `?` has a default.
  const config = finishConfig(values as unknown as Values, input.cwd, refuse);
  if (problems.length > 0) return { kind: 'problems', problems };
  return { kind: 'config', config, sources: showSettings(SETTINGS, texts) };
}

type Refuse = (key: string, problem: string) => void;

/** What follows from several settings together, and from the files that settings name. */
function finishConfig(values: Values, cwd: string, refuse: Refuse): Config {
  const { controlTlsCert, controlTlsKey, cacheMemory, cacheDisk, cacheDiskSize, tokenFile, ...rest } = values;
  const dataDir = resolve(cwd, values.dataDir);
  const feedSocket = resolve(cwd, values.feedSocket ?? join(dataDir, 'run', 'feed.sock'));
  const socketBytes = Buffer.byteLength(feedSocket);
  if (socketBytes > MAX_SOCKET_PATH_BYTES)
    refuse('feedSocket', `expected at most ${MAX_SOCKET_PATH_BYTES} bytes, and ${feedSocket} has ${socketBytes}`);

  if (!values.roles.includes('control') && values.feedSocket === undefined)
    refuse(
      'feedSocket',
      'an edge without control on its machine needs the socket of one; its own has nobody to answer',
    );

  if (!values.roles.includes('control') && values.edgeId === SETTINGS.edgeId.default)
    refuse('edgeId', `an edge without control on its machine needs a name of its own, not ${values.edgeId}`);

  if (values.edgeProxyProtocol === 'required' && values.edgeTrustedProxies.length === 0)
    refuse('edgeProxyProtocol', 'needs edge-trusted-proxies: nobody else is believed');

  const fileText = (key: string, path: string | undefined): string | undefined => {
    const file = path === undefined ? undefined : readTextFile(resolve(cwd, path));
    if (file?.kind === 'unreadable') refuse(key, `${path} cannot be read: ${file.code}`);
    return file?.kind === 'text' ? file.text : undefined;
  };
  const cert = fileText('controlTlsCert', controlTlsCert);
  const key = fileText('controlTlsKey', controlTlsKey);
  if ((controlTlsCert === undefined) !== (controlTlsKey === undefined))
    refuse(controlTlsCert === undefined ? 'controlTlsCert' : 'controlTlsKey', 'certificate and key go together');
  const isGuarded = controlTlsCert !== undefined || values.trustedProxies.length > 0;
  if (!isLoopback(values.controlListen.host) && !isGuarded)
    refuse('controlListen', 'not on loopback, so it needs control-tls-cert and control-tls-key, or trusted-proxies');

  const token = values.token ?? fileText('tokenFile', tokenFile)?.trim();
  return {
    ...rest,
    dataDir,
    feedSocket,
    cacheMemoryBytes: cacheMemory,
    cacheDirectory: resolve(cwd, cacheDisk ?? join(dataDir, 'cache')),
    cacheDiskBytes: cacheDiskSize,
    ...(cert !== undefined && key !== undefined && { controlTls: { cert, key } }),
    ...(token !== undefined && { token }),
  };
}
