/** Brief lists of domains, and how far changes have come, on the wire. Used by `wire.ts` and its handlers only. */
import { CURSOR_EXPECTS } from '#contract/domains/domain-view-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { describeFound } from '#contract/schema/found.ts';
import type { DomainHour } from '#db/tables/domain-sums.ts';
import { HOUR_MS } from '#lib/durations.ts';
import type { Domain } from '#model/domain.ts';
import type { EdgePropagation, PropagationState } from '#model/propagation.ts';
import { type DomainView, type Look, readNameFilter, readType, writeDomainRow } from './wire-domain.ts';
import { ratioOf } from './wire-series.ts';
import { DEFAULT_PAGE_SIZE, readDomainId, writeFlag, writeRevision } from './wire-values.ts';

/** Where a page begins, by the order of the list; `undefined`: at its beginning. */
type Cursor =
  | { readonly sort: 'created'; readonly before: number | undefined }
  | { readonly sort: 'name'; readonly after: string | undefined }
  | { readonly sort: 'traffic'; readonly after: { readonly bytes: number; readonly id: number } | undefined };

export interface BriefPage {
  readonly total: number;
  readonly rows: readonly {
    readonly view: DomainView;
    /** End of the certificate. */
    readonly endsAt: number | undefined;
    readonly hours: readonly DomainHour[];
  }[];
  readonly parts: AskedBriefs['parts'];
  readonly firstHour: number;
  readonly next: string;
}

export interface PropagationView {
  readonly domain: Domain;
  readonly headRevision: number;
  readonly changedAt: number | undefined;
  readonly isInForce: boolean;
  readonly edges: readonly EdgePropagation[];
}

export type AskedBriefs = ReturnType<typeof readBriefs>;

const MAX_EDGES = 200;
const HOURS = 24;

export const READ_DOMAIN_VIEWS = {
  'domain.listBrief': readBriefs,
  'domain.propagation': readDomainId,
};

export const WRITE_DOMAIN_VIEWS = {
  'domain.listBrief': writeBriefs,
  'domain.propagation': ({ domain, edges, ...view }: PropagationView): DataOf<'domain.propagation'> => {
    const count = (wanted: PropagationState) => edges.filter(({ state }) => state === wanted).length;
    return {
      ...writeRevision(domain),
      head_revision: String(view.headRevision),
      changed_at: view.changedAt ?? 0,
      in_force: writeFlag(view.isInForce),
      counts: { waiting: count('waiting'), done: count('done'), refused: count('refused'), away: count('away') },
      edges: edges.slice(0, MAX_EDGES).map(({ edge, appliedRevision, state, reportedAt, error }) => ({
        edge,
        applied_revision: String(appliedRevision),
        state,
        reported_at: reportedAt,
        error,
      })),
    };
  },
};

function readBriefs(request: RequestOf<'domain.listBrief'>) {
  const { name, remark, cdn_type, ssl_key, statuses, domain_ids, page_size } = request;
  return {
    nameContains: name && readNameFilter(name),
    remarkContains: remark,
    type: cdn_type && readType(cdn_type),
    sslKey: ssl_key,
    codes: statuses,
    domainIds: domain_ids,
    parts: request.with ?? [],
    cursor: readCursor(request),
    limit: page_size ?? DEFAULT_PAGE_SIZE,
  };
}

/** Throws `ServiceError` for a text that is no `next` of a list in this order. */
function readCursor({ sort = 'created', after }: RequestOf<'domain.listBrief'>): Cursor {
  if (sort === 'name') return { sort, after };
  if (sort === 'created') {
    if (after === undefined) return { sort, before: undefined };
    if (/^\d{1,10}$/.test(after)) return { sort, before: Number(after) };
  } else {
    if (after === undefined) return { sort, after };
    const [, bytes, id] = /^(\d{1,16})-(\d{1,10})$/.exec(after) ?? [];
    if (id !== undefined) return { sort, after: { bytes: Number(bytes), id: Number(id) } };
  }
  throw new ServiceError('fieldInvalid', { field: 'after', expected: CURSOR_EXPECTS, found: describeFound(after) });
}

function writeBriefs({ total, rows, parts, firstHour, next }: BriefPage, look: Look): DataOf<'domain.listBrief'> {
  return { total, list: rows.map((row) => writeBrief(row, parts, firstHour, look)), next };
}

function writeBrief(
  { view, endsAt = 0, hours }: BriefPage['rows'][number],
  parts: BriefPage['parts'],
  firstHour: number,
  look: Look,
): DataOf<'domain.listBrief'>['list'][number] {
  const { domain_id, domain_name, cname, cdn_type_id, cdn_type, domain_status, status, remark, ...row } =
    writeDomainRow(view, look);
  const sum = (name: 'requests' | 'hits' | 'bytesOut') => hours.reduce((all, hour) => all + hour[name], 0);
  const requests = sum('requests');
  return {
    ...{ domain_id, domain_name, cname, cdn_type_id, cdn_type, domain_status, status, remark },
    ssl_control: row.ssl_control,
    origin: row.origin[0] ?? '',
    ssl_key: row.ssl_key ?? '',
    ssl_ends_at: row.ssl_key === undefined ? 0 : endsAt,
    created_at: view.domain.createdAt,
    revision: row.revision,
    ...(parts.includes('traffic') && { traffic: { requests, bytes_out: sum('bytesOut') } }),
    ...(parts.includes('hit_ratio') && { hit_ratio: ratioOf(sum('hits'), requests) }),
    ...(parts.includes('spark') && { spark: writeSpark(hours, firstHour) }),
  };
}

function writeSpark(hours: readonly DomainHour[], firstHour: number): number[] {
  const byHour = new Map(hours.map(({ at, bytesOut }) => [at, bytesOut]));
  return Array.from({ length: HOURS }, (_, n) => byHour.get(firstHour + n * HOUR_MS) ?? 0);
}
