/** What somebody should look at, out of what the service says. Pure. */
import type { DataOf } from '#contract/operations.ts';
import type { Tone } from '../../components/tone.ts';
import { certificatesPath, purgePath } from '../../routes/delivery.ts';
import { domainPath } from '../../routes/domains.ts';
import { PATHS } from '../../routes.ts';

type BriefDomain = DataOf<'domain.listBrief'>['list'][number];
type Event = DataOf<'event.list'>['list'][number];
type Limits = DataOf<'account.getLimits'>;
type QuotaName = 'domains' | 'purge_urls' | 'purge_directories' | 'prefetch_urls';

const DAY_MS = 86_400_000;
const SOON_DAYS = 21;
const URGENT_DAYS = 7;
/** Share of a quota from which it is told, as events tell it. */
const NEAR_SHARE = 0.8;

/** What of it is said; the page has the words. */
type What =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'certificate'; readonly days: number }
  | { readonly kind: 'quota'; readonly name: QuotaName; readonly used: number; readonly limit: number }
  | { readonly kind: 'refused'; readonly edges: number }
  | { readonly kind: 'edges'; readonly status: AbsentStatus; readonly count: number }
  | { readonly kind: 'webhook'; readonly waiting: number };

export interface Matter {
  readonly tone: Extract<Tone, 'warn' | 'bad'>;
  /** Name of what it is about; empty: the account. */
  readonly about: string;
  /** Page where something can be done. */
  readonly to: string;
  readonly what: What;
}

/** Domains whose review was rejected, or that are disabled. One that its owner has closed is as it should be. */
export function ofDomains(domains: readonly BriefDomain[]): readonly Matter[] {
  return domains
    .filter(({ domain_status }) => ['5', '6'].includes(String(domain_status)))
    .map(({ domain_id, domain_name, status }) => {
      return { tone: 'bad', about: domain_name, to: domainPath(domain_id), what: { kind: 'text', text: status } };
    });
}

/** Changes that an edge cannot apply. */
export function ofPropagation(
  { domain_id, domain_name }: Pick<BriefDomain, 'domain_id' | 'domain_name'>,
  { counts }: Pick<DataOf<'domain.propagation'>, 'counts'>,
): readonly Matter[] {
  if (counts.refused === 0) return [];
  const to = domainPath(domain_id, 'propagation');
  return [{ tone: 'bad', about: domain_name, to, what: { kind: 'refused', edges: counts.refused } }];
}

type Certificate = Pick<DataOf<'certificate.list'>[number], 'ssl_key' | 'title' | 'validto_time' | 'domains'>;

/** Certificates in use that end soon. */
export function ofCertificates(certificates: readonly Certificate[], now: number): readonly Matter[] {
  return certificates.flatMap(({ ssl_key, title, validto_time, domains }): readonly Matter[] => {
    const left = certificateDays(validto_time * 1000, now);
    if (domains === 0 || left === undefined || left.tone === 'ok') return [];
    const what = { kind: 'certificate', days: left.days } as const;
    return [{ tone: left.tone, about: title, to: certificatesPath({ ssl_key }), what }];
  });
}

/** Days until a certificate ends, and how urgent that is; `endsAt` is 0 where there is none. */
export function certificateDays(
  endsAt: number,
  now: number,
): { readonly days: number; readonly tone: 'ok' | 'warn' | 'bad' } | undefined {
  if (endsAt === 0) return undefined;
  const days = Math.floor((endsAt - now) / DAY_MS);
  if (days >= SOON_DAYS) return { days, tone: 'ok' };
  return { days, tone: days < URGENT_DAYS ? 'bad' : 'warn' };
}

const QUOTA_PAGES: Readonly<Record<QuotaName, string>> = {
  domains: PATHS.domains,
  purge_urls: purgePath(),
  purge_directories: purgePath(),
  prefetch_urls: purgePath({ act: 'prefetch' }),
};

/** Quotas that are nearly used up. One that allows nothing is not. */
export function ofLimits(limits: Pick<Limits, QuotaName>): readonly Matter[] {
  const names = Object.keys(QUOTA_PAGES) as QuotaName[]; // its own
  return names.flatMap((name): readonly Matter[] => {
    const { used, limit } = limits[name];
    if (limit === 0 || used < limit * NEAR_SHARE) return [];
    const what = { kind: 'quota', name, used, limit } as const;
    return [{ tone: used >= limit ? 'bad' : 'warn', about: '', to: QUOTA_PAGES[name], what }];
  });
}

/** Kinds of events that tell that something began, and those that tell its end. */
const ENDS = {
  'origin.down': 'origin.up',
  'certificate.failing': 'certificate.recovered',
  'bandwidth.over': 'bandwidth.within',
} as const;
type Began = keyof typeof ENDS;

export const EVENT_KINDS = Object.entries(ENDS).flat() as readonly (Began | (typeof ENDS)[Began])[]; // as above

/** What began and has not ended. `events`: the newest first. */
export function ofEvents(events: readonly Event[]): readonly Matter[] {
  const seen = new Set<string>();
  return events.flatMap((event): readonly Matter[] => {
    const { kind, target, data, text, severity } = event;
    const began = (Object.keys(ENDS) as Began[]).find((name) => name === kind || ENDS[name] === kind);
    const key = [began, target.kind, target.id, data['origin']].join(' ');
    if (began === undefined || seen.has(key)) return [];
    seen.add(key);
    if (kind !== began) return [];
    const what = { kind: 'text', text } as const;
    return [{ tone: severity === 'critical' ? 'bad' : 'warn', about: target.name, to: pageOf(event, began), what }];
  });
}

function pageOf({ target }: Event, began: Began): string {
  if (target.kind !== 'domain') return PATHS.statistics;
  return domainPath(target.id, began === 'origin.down' ? 'origin' : 'https');
}

const ABSENT = ['away', 'unhealthy', 'suspect'] as const;
type AbsentStatus = (typeof ABSENT)[number];

/** Edges that do not serve as they should, for operators. */
export function ofEdges({ edges }: Pick<DataOf<'edgeOperator.status'>, 'edges'>): readonly Matter[] {
  return ABSENT.flatMap((status): readonly Matter[] => {
    const count = edges.filter((one) => one.status === status).reduce((sum, one) => sum + one.count, 0);
    if (count === 0) return [];
    return [{ tone: 'bad', about: '', to: PATHS.edges, what: { kind: 'edges', status, count } }];
  });
}

/** A webhook whose last post was not taken. */
export function ofDeliveries(
  name: string,
  { waiting, list }: Pick<DataOf<'sms.listDeliveries'>, 'waiting' | 'list'>,
): readonly Matter[] {
  const [last] = list;
  if (last === undefined || last.outcome === 'delivered') return [];
  return [{ tone: 'warn', about: name, to: PATHS.services, what: { kind: 'webhook', waiting } }];
}
