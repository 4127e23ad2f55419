/**
 * What is in force: every setting from where it was given. Nothing else reads the environment or the settings file.
 * Defaults < causeway.toml < environment < flags; all problems are reported at once.
 */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { type DnsZones, defaultRoutingZone, isInZone, OWN_LABEL } from '#dns/zones.ts';
import { identityFile } from '#fleet/identity-file.ts';
import { describeFileCode } from '#lib/file-error.ts';
import { isLoopback } from '#lib/listen-address.ts';
import {
  DEFAULT_SOURCE,
  type Environment,
  gatherTexts,
  isSettingVariable,
  type Setting,
  type SettingInForce,
  type SettingProblem,
  type SettingSources,
  type SettingsFile,
  settingName,
  showSettings,
} from '#lib/settings.ts';
import { readTextFile } from '#lib/text-file.ts';
import type { S3Place } from '#logs/store/s3.ts';
import { SETTINGS, type Values } from './settings.ts';

/** What the parts are started with. Plain data: it travels to the child processes by message. */
export type Config = ReturnType<typeof finishConfig>;

/** Variables that belong to the tests of this repository and are no settings. */
const FOREIGN_PREFIX = 'CAUSEWAY_TEST_';

/** Id of an edge that was given none. */
export const DEFAULT_EDGE_ID = SETTINGS.edgeId.default;

/** A unix socket's address is 108 bytes on Linux and 104 elsewhere; some room for what is appended. */
const MAX_SOCKET_PATH_BYTES = 100;

export interface ConfigInput extends SettingSources {
  /** Relative paths begin here. */
  readonly cwd: string;
}

export type Loaded =
  | { readonly kind: 'config'; readonly config: Config; readonly sources: readonly SettingInForce[] }
  | { readonly kind: 'problems'; readonly problems: readonly SettingProblem[] };

/** Takes every setting out of the process's environment, so that no child process inherits a secret. */
export function takeEnvironment(): Environment {
  const ours = Object.keys(process.env).filter(
    (name) => isSettingVariable(SETTINGS, name) && !name.startsWith(FOREIGN_PREFIX),
  );
  const taken = Object.fromEntries(ours.map((name) => [name, process.env[name]]));
  for (const name of ours) delete process.env[name];
  return taken;
}

/** What systemd says about the sockets that it passes, as text. sd_listen_fds(3) */
export interface ListenVariables {
  /** Number of sockets; `0` if there are none. */
  readonly descriptors: string;
  /** Names of the sockets, separated by colons. */
  readonly names: string;
}

/**
 * Takes the variables out of the process's environment. Sockets that are meant for another process are not there.
 * `pids`: of this process, and of the launcher that passes its descriptors on.
 */
export function takeListenVariables(pids: readonly number[]): ListenVariables {
  const { LISTEN_PID, LISTEN_FDS: descriptors = '0', LISTEN_FDNAMES: names = '' } = process.env;
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete process.env[name];
  return pids.includes(Number(LISTEN_PID)) ? { descriptors, names } : { descriptors: '0', names: '' };
}

/**
 * Takes the socket on which systemd waits for news of the service out of the process's environment. `undefined`: nobody
 * waits. sd_notify(3)
 */
export function takeNotifySocket(): string | undefined {
  const { NOTIFY_SOCKET: socket } = process.env;
  delete process.env['NOTIFY_SOCKET'];
  return socket || undefined;
}

/** Environment of a child process: this process's own, and `added`. */
export function environmentWith(added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...added };
}

/** Reads the file that is named, which must be there, else `causeway.toml` in `cwd` if there is one. */
export function readSettingsFile(named: string | undefined, cwd: string): SettingsFile | SettingProblem | undefined {
  const path = resolve(cwd, named ?? 'causeway.toml');
  const file = readTextFile(path);
  if (file.kind === 'text') return { path, text: file.text };
  if (named === undefined && file.code === 'ENOENT') return undefined;
  return { setting: 'config', source: path, problem: `cannot be read: ${describeFileCode(file.code)}` };
}

export function loadConfig(input: ConfigInput): Loaded {
  const { texts, problems } = gatherTexts(SETTINGS, input);
  // Two settings for one thing: the flag that names a token wins over what is around, as any flag does.
  if (input.flags['token-file'] !== undefined) texts.delete('token');
  const refuse: Refuse = (key, problem) =>
    problems.push({ setting: settingName(key), source: texts.get(key)?.source ?? DEFAULT_SOURCE, problem });
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const given = texts.get(key);
    if (given === undefined) continue;
    const read = setting.reader.safeParse(given.text);
    const got = setting.secret === true ? '' : `, not ${JSON.stringify(given.text)}`;
    if (read.success) values[key] = read.data;
    else refuse(key, `expected ${setting.reader.description}${got}`);
  }
  if (problems.length > 0) return { kind: 'problems', problems };
  // Each value came from the reader of its own key, and every key of `Values` without `?` has a default.
  const config = finishConfig(values as unknown as Values, input.cwd, refuse);
  if (problems.length > 0) return { kind: 'problems', problems };
  return { kind: 'config', config, sources: showSettings(SETTINGS, texts) };
}

/** Where control keeps log files. */
export type LogStore = { readonly kind: 'local'; readonly directory: string } | ({ readonly kind: 's3' } & S3Place);

/** The authority that certificates are obtained from. */
export interface AcmeConfig {
  readonly directory: string;
  readonly email: string | undefined;
  /** PEM; absent: the system's own list of authorities is trusted. */
  readonly ca: string | undefined;
  /**
   * External account binding of the operator's account at the authority, the key in base64 or base64url; absent: the
   * authority requires none.
   */
  readonly binding: { readonly keyId: string; readonly macKey: string } | undefined;
}

type Refuse = (key: string, problem: string) => void;

/** What follows from several settings together, and from the files that settings name. */
function finishConfig(values: Values, cwd: string, refuse: Refuse) {
  const { controlTlsCert, controlTlsKey, cacheMemory, cacheDisk, cacheDiskSize, logSpool, tokenFile, ...given } =
    values;
  const { acmeDirectory, acmeEmail, acmeCa, acmeEabKeyId, acmeEabMacKey, ...more } = given;
  const { keyring, logStore: _, logS3Endpoint, logS3Region, logS3AccessKey, logS3SecretKey, ...other } = more;
  const { fleetCa, fleetCert, fleetKey, control: controls, backupDirectory, ...rest } = other;
  const dataDir = resolve(cwd, values.dataDir);
  const feedSocket = resolve(cwd, values.feedSocket ?? join(dataDir, 'run', 'feed.sock'));
  const socketBytes = Buffer.byteLength(feedSocket);
  if (socketBytes > MAX_SOCKET_PATH_BYTES)
    refuse('feedSocket', `expected at most ${MAX_SOCKET_PATH_BYTES} bytes, and ${feedSocket} has ${socketBytes}`);

  const followsFleet = isFleetFollower(values, dataDir);
  checkFeed(values, followsFleet, refuse);

  checkPairs(values, refuse);
  checkPushAuth(values, refuse);
  checkSynchronous(values, refuse);

  const fileText = (key: string, path: string | undefined): string | undefined => {
    const file = path === undefined ? undefined : readTextFile(resolve(cwd, path));
    if (file?.kind === 'unreadable') refuse(key, `${path} cannot be read: ${describeFileCode(file.code)}`);
    return file?.kind === 'text' ? file.text : undefined;
  };
  const cert = fileText('controlTlsCert', controlTlsCert);
  const key = fileText('controlTlsKey', controlTlsKey);
  if ((controlTlsCert === undefined) !== (controlTlsKey === undefined))
    refuse(
      controlTlsCert === undefined ? 'controlTlsCert' : 'controlTlsKey',
      'control-tls-cert and control-tls-key must be set together',
    );
  const isGuarded = controlTlsCert !== undefined || values.trustedProxies.length > 0;
  if (!isLoopback(values.controlListen.host) && !isGuarded)
    refuse(
      'controlListen',
      'an address other than loopback requires control-tls-cert and control-tls-key, or trusted-proxies',
    );

  if ((acmeEabKeyId === undefined) !== (acmeEabMacKey === undefined))
    refuse(
      acmeEabKeyId === undefined ? 'acmeEabKeyId' : 'acmeEabMacKey',
      'acme-eab-key-id and acme-eab-mac-key must be set together',
    );
  const acme = {
    email: acmeEmail,
    ca: fileText('acmeCa', acmeCa),
    binding: acmeEabKeyId === undefined ? undefined : { keyId: acmeEabKeyId, macKey: acmeEabMacKey ?? '' },
  };
  const token = values.token ?? fileText('tokenFile', tokenFile)?.trim();
  return {
    ...rest,
    dataDir,
    feedSocket,
    /** Whether this is an edge that follows controls on other machines. */
    followsFleet,
    /** `https://host:port` of controls; empty: those that this edge was enrolled with. */
    controls,
    /** Present with the operator's own public-key infrastructure. */
    ...ownFleetFiles(values, cwd),
    ...finishDns(values, { cwd, followsFleet }, refuse),
    keyringFile: resolve(cwd, keyring ?? join(dataDir, 'keyring')),
    /** Present when backups are made. */
    ...(backupDirectory !== undefined && { backupDirectory: resolve(cwd, backupDirectory) }),
    /** Memory for all edge workers of this machine together. */
    cacheMemoryBytes: cacheMemory,
    /** Shared by all edge workers of this machine. */
    cacheDirectory: resolve(cwd, cacheDisk ?? join(dataDir, 'cache')),
    /** 0: nothing is kept on disk. */
    cacheDiskBytes: cacheDiskSize,
    /** Room for the finished log files of all edge workers of this machine together. */
    logSpoolBytes: logSpool,
    logStore: finishLogStore(values, dataDir, refuse),
    /** PEM texts; present when control speaks TLS. */
    ...(cert !== undefined && key !== undefined && { controlTls: { cert, key } }),
    /** Present when certificates are obtained. */
    ...(acmeDirectory !== undefined && { acme: { directory: acmeDirectory, ...acme } }),
    /** The access token of commands that call a service, from `token` or `token-file`. */
    ...(token !== undefined && { token }),
  };
}

/** An edge without control on its machine follows the fleet, unless it is given the socket of a control. */
function isFleetFollower({ roles, feedSocket, control, fleetCert }: Values, dataDir: string): boolean {
  if (roles.includes('control') || feedSocket !== undefined) return false;
  return control.length > 0 || fleetCert !== undefined || existsSync(identityFile(dataDir));
}

/** Settings that mean nothing without another one. */
function checkPairs({ edgeProxyProtocol, edgeTrustedProxies, oidcIssuer, oidcClientId }: Values, refuse: Refuse): void {
  if (edgeProxyProtocol === 'required' && edgeTrustedProxies.length === 0)
    refuse('edgeProxyProtocol', 'requires edge-trusted-proxies');
  if ((oidcIssuer === undefined) !== (oidcClientId === undefined))
    refuse(oidcIssuer === undefined ? 'oidcIssuer' : 'oidcClientId', 'set oidc-issuer and oidc-client-id together');
}

function checkFeed(values: Values, followsFleet: boolean, refuse: Refuse): void {
  const { roles, feedSocket, edgeId, control, enrolToken, fleetProxyProtocol, trustedProxies } = values;
  const isAlone = !roles.includes('control') && !followsFleet;
  if (isAlone && feedSocket === undefined)
    refuse(
      'feedSocket',
      'an edge without control on the same machine must be enrolled with "causeway edge enrol", or needs feed-socket to be set to the socket of a control',
    );
  if (isAlone && feedSocket !== undefined && edgeId === DEFAULT_EDGE_ID)
    refuse('edgeId', `an edge without control on the same machine needs a unique name, not ${edgeId}`);
  if (enrolToken !== undefined && control.length === 0) refuse('enrolToken', 'requires control');
  if (fleetProxyProtocol === 'required' && trustedProxies.length === 0)
    refuse('fleetProxyProtocol', 'requires trusted-proxies');
  const own = ['fleetCa', 'fleetCert', 'fleetKey'] as const;
  const missing = own.find((key) => values[key] === undefined);
  if (missing !== undefined && own.some((key) => values[key] !== undefined))
    refuse(missing, 'fleet-ca, fleet-cert and fleet-key must be set together');
  const { tierListen, tierAddress } = values;
  if ((tierListen === 'off') !== (tierAddress === undefined))
    refuse(tierListen === 'off' ? 'tierListen' : 'tierAddress', 'tier-listen and tier-address must be set together');
  if (tierListen !== 'off' && !followsFleet)
    refuse(
      'tierListen',
      'an edge that others fetch through must be enrolled, or have fleet-cert: see "causeway edge enrol"',
    );
  if (followsFleet && values.fleetCert !== undefined && control.length === 0)
    refuse('control', 'an edge with fleet-cert needs control to be set to the fleet listener of a control');
}

type OwnFleetFiles = Pick<Values, 'fleetCa' | 'fleetCert' | 'fleetKey'>;

function ownFleetFiles({ fleetCa: ca, fleetCert: cert, fleetKey: key }: OwnFleetFiles, cwd: string) {
  if (ca === undefined || cert === undefined || key === undefined) return {};
  return { fleetFiles: { ca: resolve(cwd, ca), cert: resolve(cwd, cert), key: resolve(cwd, key) } };
}

/** DnsZones of the name server, which needs the names of all domains. docs/decisions/0719 */
function finishDns(values: Values, { cwd, followsFleet }: { cwd: string; followsFleet: boolean }, refuse: Refuse) {
  const { roles, cnameSuffix: suffix, dnsRoutingZone, dnsNameServers, dnsListen, dnsGeoip } = values;
  const { dnsEngine, dnsKnotDirectory, dnsKnotSocket } = values;
  const routing = dnsRoutingZone ?? defaultRoutingZone(suffix);
  if (isInZone(routing, suffix)) refuse('dnsRoutingZone', `expected a zone outside of cname-suffix, ${suffix}`);
  if (dnsNameServers.some((name) => isInZone(name, suffix) || isInZone(name, routing)))
    refuse('dnsNameServers', `expected names outside of ${suffix} and ${routing}`);
  if (roles.includes('dns') && !roles.includes('edge')) refuse('roles', 'expected edge beside dns');
  if (roles.includes('dns') && followsFleet)
    refuse(
      'roles',
      'expected no dns on a machine that follows a control elsewhere: it has the domains of its group alone',
    );
  if (roles.includes('dns') && isIP(dnsListen.host) === 0) refuse('dnsListen', 'expected an IP address, not a name');
  if (dnsEngine === 'knot' && dnsKnotDirectory === undefined)
    refuse('dnsKnotDirectory', 'expected a path with dns-engine = knot');
  if (dnsEngine === 'knot' && dnsGeoip !== undefined) refuse('dnsGeoip', 'expected none with dns-engine = knot');
  const nameServers = dnsNameServers.length > 0 ? dnsNameServers : [`${OWN_LABEL}.${routing}`];
  const dnsZones: DnsZones = { suffix, routing, nameServers };
  const knotFiles = dnsKnotDirectory && { dnsKnotDirectory: resolve(cwd, dnsKnotDirectory) };
  return {
    dnsZones,
    dnsKnotSocket: resolve(cwd, dnsKnotSocket),
    ...knotFiles,
    ...(dnsGeoip !== undefined && { dnsGeoip: resolve(cwd, dnsGeoip) }),
  };
}

function checkSynchronous({ databaseSynchronous, databaseUrl }: Values, refuse: Refuse): void {
  if (databaseSynchronous === 'required' && databaseUrl === undefined)
    refuse('databaseSynchronous', 'requires database-url');
}

/** Publishers without a key are told apart by their addresses, which a proxy in a private network may hide. docs/decisions/0490 */
function checkPushAuth(values: Values, refuse: Refuse): void {
  const takesRtmp = values.roles.includes('live') && [values.rtmpListen, values.rtmpsListen].some((at) => at !== 'off');
  if (
    takesRtmp &&
    values.livePushAuth === 'off' &&
    values.edgeTrustedProxies.length > 0 &&
    values.edgeProxyProtocol === 'required'
  )
    refuse(
      'livePushAuth',
      'with edge-proxy-protocol it must be `required`, unless rtmp-listen and rtmps-listen are off',
    );
}

function finishLogStore(values: Values, dataDir: string, refuse: Refuse): LogStore {
  const local: LogStore = { kind: 'local', directory: join(dataDir, 'log-store') };
  const { logStore, logS3Endpoint: endpoint, logS3Region: region } = values;
  const { logS3AccessKey: accessKey, logS3SecretKey: secretKey } = values;
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(logStore) ?? [];
  if (bucket === undefined) return local;
  if (endpoint === undefined || accessKey === undefined || secretKey === undefined) {
    refuse('logStore', 'S3 storage requires log-s3-endpoint, log-s3-access-key and log-s3-secret-key');
    return local;
  }
  return { kind: 's3', endpoint, region, bucket, prefix, credentials: { accessKey, secretKey } };
}
