/** A domain → what travels to the edges. Pure. */
import { addressListKey } from '#model/address-list.ts';
import {
  type CacheTime,
  type DenyList,
  type Domain,
  type DomainLists,
  type DomainSettings,
  eachDenyList,
} from '#model/domain.ts';
import { parseOrigin } from '#model/origin.ts';
import { mapSettings, SITE_SETTINGS, type SiteSettings } from '#model/settings.ts';
import { isHostName } from '#sites/host-name.ts';
import type { AccessSpec, OriginSpec, RefusalSpec, SiteSpec, TlsSpec } from '#sites/spec.ts';

/**
 * `undefined` for a domain that waits for its review: edges do not have it. Every setting is taken apart and every member of a spec
 * is made, so that neither can be forgotten: a setting that is not used here does not compile.
 */
export function toSiteSpec(domain: Domain): SiteSpec | undefined {
  if (domain.state === 'pending') return undefined;
  const { originProtocol, origins, backups, originHost, monitorUrl, ...served } = domain.settings;
  const { cache, caching, prefixCacheFirst, sslControl, sslKey, secondSslKey, https, ...ruled } = served;
  const { referer, forbidHttpCode, forbidRedirectUrl, html403, ...answered } = ruled;
  const { recording, rateLimits, redirects, responseHeaders, addressLists, signing, ...plain } = answered;
  const unused: Omit<typeof plain, keyof SiteSettings | DenyList> = plain;
  unused satisfies Record<string, never>;
  return {
    id: domain.id,
    name: domain.name,
    type: domain.type,
    state: domain.isLimited === true && domain.state === 'open' ? 'accountLimit' : domain.state,
    origins: {
      protocol: originProtocol,
      primary: origins.map(toOriginSpec),
      backup: backups.map(toOriginSpec),
      hostHeader: originHost,
      ...toProbeSpec(domain.name, monitorUrl),
    },
    cache,
    caching: {
      followsOrigin: caching.followsOrigin,
      prefixFirst: prefixCacheFirst,
      policies: caching.policies.map(({ time, ...policy }) => ({
        ...policy,
        lifetimeSeconds: toSeconds(time),
      })),
    },
    access: { ...toAccessSpec(domain.settings), ...toListsSpec(domain.accountId, addressLists) },
    ...mapSettings(SITE_SETTINGS, (member) => plain[member]),
    rateLimits,
    redirects,
    responseHeaders,
    ...(signing.isOn && { signing: { validSeconds: signing.validSeconds, paths: signing.paths } }),
    ...(recording.isOn && { records: true }),
    ...(sslControl && {
      tls: {
        certificate: sslKey,
        ...(secondSslKey !== '' && { secondCertificate: secondSslKey }),
        ...https,
      } satisfies Required<Omit<TlsSpec, 'secondCertificate'>>,
    }),
  } satisfies Required<Omit<SiteSpec, 'tls' | 'records' | 'signing'>>;
}

/** A year has 365 days. Edge rule 4 */
function toSeconds({ years, days, hours, minutes, seconds }: CacheTime): number {
  return (((years * 365 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;
}

function toAccessSpec({ referer, ...settings }: DomainSettings): AccessSpec {
  const refusal = toRefusalSpec(settings);
  const lists = Object.values(eachDenyList((list, member) => ({ member, ...settings[list] })));
  const denied = lists.filter(({ isOn }) => isOn).map(({ member, entries }) => [member, entries]);
  return {
    ...Object.fromEntries(denied),
    ...(referer.mode !== 'off' && {
      referer: { mode: referer.mode, allowsBlank: referer.allowsBlank, entries: referer.entries },
    }),
    ...(refusal !== undefined && { refusal }),
  };
}

function toListsSpec(
  accountId: number,
  { denied, allowed }: DomainLists,
): Pick<AccessSpec, 'deniedLists' | 'allowedLists'> {
  const toKey = (name: string) => addressListKey({ accountId, name });
  return {
    ...(denied.length > 0 && { deniedLists: denied.map(toKey) }),
    ...(allowed.length > 0 && { allowedLists: allowed.map(toKey) }),
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
