/** Which changed settings `causeway restart` puts in force, and which need a restart of the service. Pure. */
import type { Config } from '#config';
import { settingName } from '#lib/settings.ts';

/** Settings of a running service. */
export interface SettingsInForce {
  /** Settings as they were given. */
  readonly given: Config;
  /** The same with the ports that the service listens on. */
  readonly running: Config;
}

export interface RestartPlan extends SettingsInForce {
  /** Names of changed settings that the new processes take. */
  readonly taken: readonly string[];
  /** Names of changed settings that are not in force everywhere until the service is restarted. */
  readonly pending: readonly string[];
  /** Whether the feed's process must be restarted. */
  readonly renewsFeed: boolean;
}

type Key = keyof Config;

const OF_WORKERS: readonly Key[] = [
  'bufferDiskSize',
  'cacheDiskBytes',
  'cacheMemoryBytes',
  'drainIdleSeconds',
  'drainSeconds',
  'edgeProxyProtocol',
  'edgeTrustedProxies',
  'healthAllow',
  'logLevel',
  'logRotateSeconds',
  'logSpoolBytes',
  'originAllow',
  'originVerify',
];
/** The process of the feed probes origins, reports traffic, and answers names. */
const OF_FEED: readonly Key[] = [
  'dnsDefaultLocation',
  'dnsGeoip',
  'dnsNetworks',
  'dnsTtl',
  'edgeAddresses',
  'edgeCoordinates',
  'edgeWeight',
  'logLevel',
  'originAllow',
  'originVerify',
  'sinkSpool',
  'statSeconds',
];
const OF_LIVE: readonly Key[] = [
  'edgeProxyProtocol',
  'edgeTrustedProxies',
  'liveMemory',
  'livePushAuth',
  'liveRecordSpool',
  'logLevel',
  'logRotateSeconds',
  'logSpoolBytes',
  'originAllow',
  'originVerify',
];
const OF_CONTROL: readonly Key[] = ['logLevel', 'originAllow'];

/** Settings of commands, or of a first start, and what follows from others. */
const OF_NOTHING: readonly string[] = ['backupDirectory', 'backupKeep', 'bootstrapToken', 'dnsZones', 'token', 'url'];

/** Settings whose values have other names in the configuration. */
const NAMES: Readonly<Partial<Record<Key, string>>> = {
  acme: 'acmeDirectory',
  cacheDirectory: 'cacheDisk',
  cacheDiskBytes: 'cacheDiskSize',
  cacheMemoryBytes: 'cacheMemory',
  controlTls: 'controlTlsCert',
  keyringFile: 'keyring',
  logSpoolBytes: 'logSpool',
};

/** `next`: the settings as they are given now. */
export function planRestart({ given, running }: SettingsInForce, next: Config): RestartPlan {
  // The keys of two configurations, and of nothing else.
  const keys = [...new Set([...Object.keys(given), ...Object.keys(next)])].sort() as Key[];
  const changed = keys.filter((key) => !OF_NOTHING.includes(key) && !isSame(given[key], next[key]));
  const taken = changed.filter((key) => [OF_WORKERS, OF_FEED, OF_LIVE].some((keys) => keys.includes(key)));
  const isPending = (key: Key) =>
    !taken.includes(key) || (running.roles.includes('control') && OF_CONTROL.includes(key));
  return {
    given: { ...given, ...pick(next, taken) },
    running: { ...running, ...pick(next, taken) },
    taken: taken.map(nameOf),
    pending: changed.filter(isPending).map(nameOf),
    renewsFeed: changed.some((key) => OF_FEED.includes(key)),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function pick(config: Config, keys: readonly Key[]): Partial<Config> {
  return Object.fromEntries(keys.map((key) => [key, config[key]]));
}

function nameOf(key: Key): string {
  return settingName(NAMES[key] ?? key);
}
