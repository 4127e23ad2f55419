/** A domain → what travels to the edges. Pure. */
import type { CacheTime, Domain, DomainSettings } from '#model/domain.ts';
import { parseOrigin } from '#model/origin.ts';
import { isHostName } from '#sites/host-name.ts';
import type { AccessSpec, OriginSpec, RefusalSpec, SiteSpec } from '#sites/spec.ts';

/** `undefined` for a domain that waits for its review: edges do not have it. */
export function toSiteSpec(domain: Domain): SiteSpec | undefined {
  if (domain.state === 'pending') return undefined;
  const { settings } = domain;
  return {
    id: domain.id,
    name: domain.name,
    type: domain.type,
    state: domain.state,
    origins: {
      protocol: settings.originProtocol,
      primary: settings.origins.map(toOriginSpec),
      backup: settings.backups.map(toOriginSpec),
      hostHeader: settings.originHost,
      ...toProbeSpec(domain.name, settings.monitorUrl),
    },
    cache: settings.cache,
    caching: {
      followsOrigin: settings.caching.followsOrigin,
      prefixFirst: settings.prefixCacheFirst,
      policies: settings.caching.policies.map(({ time, ...policy }) => ({
        ...policy,
        lifetimeSeconds: toSeconds(time),
      })),
    },
    access: toAccessSpec(settings),
    keepUrlParams: settings.keepUrlParams,
    redirectFollow: settings.redirectFollow,
    pageCompress: settings.pageCompress,
    rangeBackSource: settings.rangeBackSource,
    expiresSeconds: settings.expiresSeconds,
    accessControlMaxAgeSeconds: settings.accessControlMaxAgeSeconds,
    ...(settings.sslControl && { tls: { certificate: settings.sslKey, ...settings.https } }),
  };
}

/** A year has 365 days. Edge rule 4 */
function toSeconds({ years, days, hours, minutes, seconds }: CacheTime): number {
  return (((years * 365 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;
}

function toAccessSpec({ ip, referer, userAgent, ...settings }: DomainSettings): AccessSpec {
  const refusal = toRefusalSpec(settings);
  return {
    ...(ip.isOn && { deniedAddresses: ip.entries }),
    ...(referer.mode !== 'off' && {
      referer: { mode: referer.mode, allowsBlank: referer.allowsBlank, entries: referer.entries },
    }),
    ...(userAgent.isOn && { deniedUserAgents: userAgent.entries }),
    ...(refusal !== undefined && { refusal }),
  };
}

function toRefusalSpec({
  forbidHttpCode,
  forbidRedirectUrl,
  html403,
}: Pick<DomainSettings, 'forbidHttpCode' | 'forbidRedirectUrl' | 'html403'>): RefusalSpec | undefined {
  if (forbidHttpCode === '302') return { kind: 'redirect', url: forbidRedirectUrl };
  return forbidHttpCode === '403' ? { kind: 'page', html: html403 } : undefined;
}

function toOriginSpec(text: string): OriginSpec {
  const origin = parseOrigin(text);
  if (origin.kind === 'invalid') throw new Error(`stored origin ${text} ${origin.reason}`);
  return { host: origin.host, ...(origin.port !== undefined && { port: origin.port }) };
}

/** Whatever host the customer wrote is never connected to: on a wildcard domain it is what the origins are asked for. */
function toProbeSpec(name: string, monitorUrl: string): Pick<SiteSpec['origins'], 'probePath' | 'probeHost'> {
  if (monitorUrl === '') return { probePath: '' };
  const { pathname, search, hostname } = new URL(monitorUrl);
  const isUnder = name.startsWith('*.') && hostname.endsWith(name.slice(1)) && isHostName(hostname);
  return { probePath: pathname + search, ...(isUnder && { probeHost: hostname }) };
}
