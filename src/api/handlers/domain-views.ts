/** Domains as lists and pages show them. docs/decisions/0670 */
import type { RouteName } from '#contract/routes.ts';
import { findCertificateEnds } from '#db/tables/certificates.ts';
import { listDomainsById, listDomainsByName, listMatchingIds, listNewestDomains } from '#db/tables/domain-pages.ts';
import { findRevision } from '#db/tables/domain-revisions.ts';
import { type DomainHour, listDomainHours } from '#db/tables/domain-sums.ts';
import { readServing } from '#db/tables/edge-groups.ts';
import { resolveRejections } from '#db/tables/edge-rejections.ts';
import { listEdges } from '#db/tables/edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { isInForce } from '#model/acknowledgement.ts';
import { EDGE_KNOWN_MS } from '#model/cache-task.ts';
import type { Domain } from '#model/domain.ts';
import { edgesOf } from '#model/edge-group.ts';
import { holdingEdges } from '#model/edge-state.ts';
import { propagationOf } from '#model/propagation.ts';
import { lastHours } from '../views/traffic-ranks.ts';
import type { AskedBriefs, BriefPage } from '../wire/wire-domain-views.ts';
import type { Call, Handler } from './handler.ts';
import { readAcknowledged, statusesOf } from './list-domains.ts';
import { readOwnDomain } from './own-domain.ts';

export const DOMAIN_VIEW_HANDLERS = {
  'domain.listBrief': async (call, { parts, cursor, limit, ...asked }): Promise<BriefPage> => {
    const { db, now } = call;
    const acknowledged = await readAcknowledged(db, now);
    const selection = { ...selectionOf(call, asked), inForce: acknowledged.inForce };
    const { total, domains, next } = await readPageFrom(call, selection, cursor, limit);
    const views = await acknowledged.viewsOf(domains);
    const ends = await findCertificateEnds(
      db.query,
      domains.map(({ settings }) => settings.sslKey),
    );
    const span = lastHours(now);
    const ids = domains.map(({ id }) => id);
    const hours = parts.length === 0 ? [] : await listDomainHours(db.query, ids, span);
    const byDomain = Map.groupBy(hours, ({ domainId }) => domainId);
    const none: readonly DomainHour[] = [];
    return {
      total,
      rows: views.map((view) => ({
        view,
        endsAt: ends.get(view.domain.settings.sslKey),
        hours: byDomain.get(view.domain.id) ?? none,
      })),
      parts,
      firstHour: span.from,
      next,
    };
  },

  'domain.propagation': async (call, { domainId }) => {
    const { db, now } = call;
    const domain = await readOwnDomain(call, domainId);
    const known = await resolveRejections(db.query, await listEdges(db.query, { now, withinMs: EDGE_KNOWN_MS }));
    const edges = edgesOf(await readServing(db.query, [domainId]), domainId, known);
    const { revision: headRevision } = await readConfigHead(db.query);
    const made = await findRevision(db.query, { domainId, revision: domain.settingRevision });
    return {
      domain,
      headRevision,
      changedAt: made?.madeAt,
      isInForce: isInForce(domain, holdingEdges(edges)),
      edges: propagationOf(domain, edges),
    };
  },
} satisfies { readonly [N in DomainViewRoute]: Handler<N> };

type DomainViewRoute = Extract<RouteName, 'domain.listBrief' | 'domain.propagation'>;

type Selection = Parameters<typeof listMatchingIds>[1];

function selectionOf(
  { accountId, domainIds: reached }: Call,
  { codes, domainIds: asked, ...filter }: Omit<AskedBriefs, 'parts' | 'cursor' | 'limit'>,
): Omit<Selection, 'inForce'> {
  const domainIds = asked === undefined ? reached : asked.filter((id) => reached?.includes(id) ?? true);
  return { ...filter, accountId, domainIds, statuses: codes && statusesOf(codes) };
}

interface Page {
  readonly total: number;
  readonly domains: readonly Domain[];
  /** Empty: there is no more. */
  readonly next: string;
}

async function readPageFrom(
  call: Call,
  selection: Selection,
  cursor: AskedBriefs['cursor'],
  limit: number,
): Promise<Page> {
  const x = call.db.query;
  if (cursor.sort === 'traffic') return await readByTraffic(call, selection, cursor.after, limit);
  const { total, domains } =
    cursor.sort === 'name'
      ? await listDomainsByName(x, selection, { after: cursor.after, limit })
      : await listNewestDomains(x, selection, { before: cursor.before, limit });
  const last = domains.length < limit ? undefined : domains.at(-1);
  return { total, domains, next: String((cursor.sort === 'name' ? last?.name : last?.id) ?? '') };
}

/** Domains with equal traffic are sorted by their ids, the newest first. */
async function readByTraffic(
  { db, trafficRanks, accountId, now }: Call,
  selection: Selection,
  after: { readonly bytes: number; readonly id: number } | undefined,
  limit: number,
): Promise<Page> {
  const { domains: ranks } = await trafficRanks.get(db, accountId, '24h', now);
  const ids = await listMatchingIds(db.query, selection);
  const ranked = ids
    .map((id) => ({ id, bytes: ranks.get(id)?.bytesOut ?? 0 }))
    .filter(({ id, bytes }) => after === undefined || bytes < after.bytes || (bytes === after.bytes && id < after.id))
    .sort((one, other) => other.bytes - one.bytes || other.id - one.id);
  const page = ranked.slice(0, limit);
  const last = ranked.length > limit ? page.at(-1) : undefined;
  const domains = await listDomainsById(
    db.query,
    page.map(({ id }) => id),
  );
  return { total: ids.length, domains, next: last === undefined ? '' : `${last.bytes}-${last.id}` };
}
