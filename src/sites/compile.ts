/**
 * SiteSpec → Site. Control compiles before it saves and the edge compiles when a site is first asked for, so this is the
 * one definition of what an edge can run. Unknown members are ignored: a newer control may send them.
 */
import { ACCELERATION_TYPES, ORIGIN_PROTOCOLS } from '#model/domain.ts';
import { MAX_ID, MAX_ORIGINS } from '#model/limits.ts';
import { CACHE_SETTINGS, SITE_SETTINGS } from '#model/settings.ts';
import { readAccess } from './access.ts';
import { ORIGIN_DECIDES, readCaching } from './caching.ts';
import { type CompileTools, createStrictTools } from './compile-tools.ts';
import { isHostName, isIpLiteral } from './host-name.ts';
import { expected, readInteger, readObject, readOneOf, readSettings, readText, SpecProblem } from './members.ts';
import { readRateLimits } from './rate-limits.ts';
import { readRedirects } from './redirects.ts';
import { readResponseHeaders } from './response-headers.ts';
import { readSigning } from './signing.ts';
import type { Site, SiteOrigin, SiteOrigins } from './site.ts';
import type { SiteSpec } from './spec.ts';
import { readTls } from './tls.ts';

export type CompileResult =
  | { readonly kind: 'site'; readonly site: Site }
  /** `problem` names the member, what was expected and what was found. */
  | { readonly kind: 'invalid'; readonly problem: string };

/** The limit of a viewer's own target. */
const MAX_PROBE_PATH_CHARS = 8192;
const MAX_PORT = 65_535;

const STATES = ['open', 'closed', 'rejected', 'disabled', 'accountLimit'] as const satisfies SiteSpec['state'][];

/** Compiles any value. The first problem found is reported. Pure; the result is frozen in depth. */
export function compileSite(spec: unknown, revision: number, tools: CompileTools = createStrictTools()): CompileResult {
  try {
    return { kind: 'site', site: deepFreeze(readSite(spec, revision, tools)) };
  } catch (error) {
    if (error instanceof SpecProblem) return { kind: 'invalid', problem: error.message };
    throw error;
  }
}

function readSite(spec: unknown, revision: number, tools: CompileTools): Site {
  // `keepUrlParams` is the name of `ignoresQuery` in specs of earlier releases. docs/decisions/0512
  const { keepUrlParams, ...named } = readObject('spec', spec);
  const members: Readonly<Record<string, unknown>> = { ignoresQuery: keepUrlParams, ...named };
  const name = readName(members['name']);
  const type = readOneOf('type', members['type'], ACCELERATION_TYPES);
  const id = readInteger('id', members['id'], MAX_ID);
  return {
    id,
    name,
    isWildcard: name.startsWith('*.'),
    type,
    state: readOneOf('state', members['state'], STATES),
    revision: readInteger('revision', revision, Number.MAX_SAFE_INTEGER),
    origins: readOrigins(members['origins'], type),
    cache: readSettings('cache.', CACHE_SETTINGS, readObject('cache', members['cache'] ?? {})),
    caching: members['caching'] === undefined ? ORIGIN_DECIDES : readCaching(members['caching'], tools),
    access: readAccess(members['access'] ?? {}, tools),
    rateLimits: readRateLimits(id, members['rateLimits'], tools),
    redirects: readRedirects(name, members['redirects'], tools),
    responseHeaders: readResponseHeaders(members['responseHeaders']),
    ...readSettings('', SITE_SETTINGS, members),
    ...(members['signing'] !== undefined && { signing: readSigning(id, members['signing'], tools) }),
    ...(readOneOf('records', members['records'] ?? false, [true, false]) && { records: true }),
    ...(members['tls'] !== undefined && { tls: readTls(members['tls']) }),
  };
}

function readName(value: unknown): string {
  const name = readText('name', value);
  const base = name.startsWith('*.') ? name.slice(2) : name;
  if (!isHostName(base) || isIpLiteral(base)) throw expected('name', 'a lower-case host name or *.name', value);
  return name;
}

function readOrigins(value: unknown, type: SiteSpec['type']): SiteOrigins {
  const members = readObject('origins', value);
  const primary = readOriginList('origins.primary', members['primary']);
  // A live site may be fed by its encoders alone; every other type has something to fetch.
  if (primary.length === 0 && type !== 'live') throw new SpecProblem('origins.primary: expected at least one origin');
  return {
    protocol: readOneOf('origins.protocol', members['protocol'], ORIGIN_PROTOCOLS),
    primary,
    backup: readOriginList('origins.backup', members['backup'] ?? []),
    hostHeader: readHostHeader(members['hostHeader'] ?? ''),
    probePath: readProbePath(members['probePath'] ?? ''),
    ...readProbeHost(members['probeHost']),
  };
}

function readProbeHost(value: unknown): Pick<SiteOrigins, 'probeHost'> {
  if (value === undefined) return {};
  const probeHost = readText('origins.probeHost', value);
  if (!isHostName(probeHost)) throw expected('origins.probeHost', 'a host name', value);
  return { probeHost };
}

function readOriginList(member: string, value: unknown): SiteOrigin[] {
  if (!Array.isArray(value)) throw expected(member, 'a list', value);
  if (value.length > MAX_ORIGINS)
    throw new SpecProblem(`${member}: expected at most ${MAX_ORIGINS}, found ${value.length}`);
  return value.map((item, index) => readOrigin(`${member}[${index}]`, item));
}

function readOrigin(member: string, value: unknown): SiteOrigin {
  const members = readObject(member, value);
  const host = readText(`${member}.host`, members['host']);
  const isAddress = isIpLiteral(host);
  if (!isAddress && !isHostName(host)) throw expected(`${member}.host`, 'a host name or an IP address', host);
  const port = members['port'];
  if (port === undefined) return { host, isAddress };
  return { host, isAddress, port: readInteger(`${member}.port`, port, MAX_PORT) };
}

/** Empty, `name`, `IP`, `[v6]`, each perhaps with `:port`. It goes out as the Host field, so nothing else may be in it. */
function readHostHeader(value: unknown): string {
  const text = readText('origins.hostHeader', value);
  if (text === '') return text;
  const [, v6, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isHost =
    v6 !== undefined ? v6.includes(':') && isIpLiteral(v6) : isHostName(plain ?? '') || isIpLiteral(plain ?? '');
  if (!isHost || Number(port ?? 1) > MAX_PORT || Number(port ?? 1) === 0) {
    throw expected('origins.hostHeader', 'a host name, perhaps with a port', value);
  }
  return text;
}

function readProbePath(value: unknown): string {
  const text = readText('origins.probePath', value);
  if (text !== '' && (!/^\/[!-~]*$/.test(text) || text.includes('#') || text.length > MAX_PROBE_PATH_CHARS)) {
    throw expected('origins.probePath', 'a path beginning with / (no blanks, no fragment)', value);
  }
  return text;
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
