/** Checks of the settings that open the service to others: trusted proxies, private origins; and of the time zone. */
import { statSync } from 'node:fs';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import type { Config } from '#config';
import { createAddressSet, parseNetwork } from '#lib/cidr.ts';
import { isLoopback } from '#lib/listen-address.ts';
import { HIDDEN, type SettingInForce } from '#lib/settings.ts';
import { ok, problem, warning } from './findings.ts';

/** Returns the files among the sources of settings. */
export function filesOf(sources: readonly SettingInForce[]): readonly string[] {
  return [...new Set(sources.map(({ source }) => source).filter((source) => source.includes('/')))];
}

/** Finds files of settings that others may change, or read although they hold a secret. */
export function checkSettingsFiles(sources: readonly SettingInForce[]): readonly DoctorFinding[] {
  return filesOf(sources).flatMap((file) => {
    const { mode } = statSync(file);
    const found = `${file} has mode ${(mode & 0o777).toString(8)}`;
    if ((mode & 0o022) !== 0)
      return [problem('settings', `${found}: other users can change the settings`, `chmod go-w ${file}`)];
    const secret = sources.find((one) => one.source === file && one.value === HIDDEN);
    if ((mode & 0o004) === 0 || secret === undefined) return [];
    return [warning('settings', `${found}: other users can read ${secret.name}`, `chmod o-rwx ${file}`)];
  });
}

/** Addresses of a network that customers must not reach through the edge, with what is there. */
const DELICATE = [
  ['127.0.0.1', 'loopback, where programs of this machine listen'],
  ['::1', 'loopback, where programs of this machine listen'],
  ['169.254.169.254', 'the metadata service of clouds, which hands out credentials'],
] as const;

/** Pure. */
export function checkOriginGuard({ originAllow }: Pick<Config, 'originAllow'>): readonly DoctorFinding[] {
  const narrow = 'name only the networks that origins are in (setting origin-allow)';
  const everything = originAllow.filter(isEverything);
  if (everything.length > 0) {
    const found = `origin-allow contains ${everything.join(', ')}: customers can reach every private address`;
    return [problem('origin guard', found, narrow)];
  }
  const opened = originAllow.flatMap((network) => {
    const inside = createAddressSet([network]);
    const [, what] = DELICATE.find(([address]) => inside.has(address)) ?? [];
    return what === undefined ? [] : [warning('origin guard', `origin-allow opens ${network}: ${what}`, narrow)];
  });
  if (opened.length > 0) return opened;
  const found =
    originAllow.length === 0 ? 'origins have public addresses only' : `private origins: ${originAllow.join(', ')}`;
  return [ok('origin guard', found)];
}

type ProxyConfig = Pick<
  Config,
  'roles' | 'trustedProxies' | 'edgeTrustedProxies' | 'edgeHttpListen' | 'edgeHttpsListen'
>;

/** Pure. */
export function checkTrustedProxies(config: ProxyConfig): readonly DoctorFinding[] {
  const { roles, trustedProxies, edgeTrustedProxies, edgeHttpListen, edgeHttpsListen } = config;
  const findings: DoctorFinding[] = [];
  if (roles.includes('control')) findings.push(judgeProxies('trusted-proxies', trustedProxies));
  if (!roles.includes('edge')) return findings;
  findings.push(judgeProxies('edge-trusted-proxies', edgeTrustedProxies));
  const hosts = [edgeHttpListen, edgeHttpsListen].flatMap((at) => (at === 'off' ? [] : [at.host]));
  if (edgeTrustedProxies.length === 0 && hosts.every(isLoopback))
    findings.push(
      warning(
        'trusted proxies',
        'the edge listens on loopback only, and believes no proxy: all viewers have the address of the proxy',
        'name the proxy in edge-trusted-proxies',
      ),
    );
  return findings;
}

/** Wider networks are rarely those of one's own proxies. */
const WIDE = { ipv4: 8, ipv6: 24 } as const;

function judgeProxies(setting: string, networks: readonly string[]): DoctorFinding {
  const advice = `name only your own proxies (setting ${setting})`;
  const everything = networks.filter(isEverything);
  if (everything.length > 0)
    return problem(
      'trusted proxies',
      `${setting} contains ${everything.join(', ')}: any client can claim any address`,
      advice,
    );
  const wide = networks.filter((text) => {
    const network = parseNetwork(text);
    return network !== undefined && network.prefix < WIDE[network.family];
  });
  if (wide.length > 0)
    return warning('trusted proxies', `${setting} contains ${wide.join(', ')}, a very large network`, advice);
  const found = networks.length === 0 ? 'none' : networks.join(', ');
  return ok('trusted proxies', `${setting}: ${found}`);
}

function isEverything(network: string): boolean {
  return parseNetwork(network)?.prefix === 0;
}

/** `machineZone`: IANA name of the time zone of the machine. Pure. */
export function checkTimeZone(
  { timeZone }: Pick<Config, 'timeZone'>,
  source: SettingInForce['source'] | undefined,
  machineZone: string,
): readonly DoctorFinding[] {
  const found = `days begin and log times are counted in ${timeZone}`;
  const isChosen = source !== 'default';
  if (isChosen || timeZone === machineZone || NEUTRAL_ZONES.includes(machineZone)) return [ok('time zone', found)];
  return [
    warning(
      'time zone',
      `${found} by default, and this machine is in ${machineZone}`,
      'set time-zone to the zone of your customers, also if it is this one; statistics of days that are over do not change',
    ),
  ];
}

/** Zones of machines that say nothing about where people are. */
const NEUTRAL_ZONES = ['UTC', 'Etc/UTC', 'Etc/UCT', 'GMT', 'Etc/GMT'];
