/** A domain → what travels to the edges. Pure. */
import type { Domain } from '#model/domain.ts';
import { parseOrigin } from '#model/origin.ts';
import type { OriginSpec, SiteSpec } from '#sites/spec.ts';

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
      probePath: probePathOf(settings.monitorUrl),
    },
    cache: settings.cache,
  };
}

function toOriginSpec(text: string): OriginSpec {
  const origin = parseOrigin(text);
  if (origin.kind === 'invalid') throw new Error(`stored origin ${text} ${origin.reason}`);
  return { host: origin.host, ...(origin.port !== undefined && { port: origin.port }) };
}

/** Whatever host the customer wrote is never connected to. */
function probePathOf(monitorUrl: string): string {
  if (monitorUrl === '') return '';
  const { pathname, search } = new URL(monitorUrl);
  return pathname + search;
}
