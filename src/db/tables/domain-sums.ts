/** Traffic sums of each domain for itself. */
import { sql } from 'kysely';
import type { Executor } from '../schema/schema.ts';
import { inIds } from '../statements/lists.ts';
import type { Grain } from './statistics.ts';

interface Span {
  /** Epoch milliseconds: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

export interface DomainHour {
  readonly domainId: number;
  readonly at: number;
  readonly requests: number;
  readonly hits: number;
  readonly bytesOut: number;
}

/** Hours without traffic are absent. */
export async function listDomainHours(
  x: Executor,
  domainIds: readonly number[],
  { from, to }: Span,
): Promise<readonly DomainHour[]> {
  if (domainIds.length === 0) return [];
  const rows = await x
    .selectFrom('stat_sum')
    .select(['domain_id', 'at', 'requests', 'hits', 'bytes_out'])
    .where(sql<boolean>`domain_id ${inIds(x, domainIds)}`)
    .where('grain', '=', 'hour')
    .where('at', '>=', from)
    .where('at', '<', to)
    .execute();
  return rows.map(({ domain_id, at, requests, hits, bytes_out }) => ({
    domainId: domain_id,
    at: Number(at),
    requests: Number(requests),
    hits: Number(hits),
    bytesOut: Number(bytes_out),
  }));
}

export interface DomainTraffic {
  readonly domainId: number;
  readonly name: string;
  readonly requests: number;
  readonly bytesOut: number;
}

/** Sums of each live domain of the account that has traffic. Reads a row for each domain and each of its instants. */
export async function sumByDomain(
  x: Executor,
  { accountId, grain, from, to }: Span & { readonly accountId: number; readonly grain: Grain },
): Promise<readonly DomainTraffic[]> {
  const rows = await x
    .selectFrom('domain')
    .innerJoin('stat_sum', 'stat_sum.domain_id', 'domain.id')
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .where('grain', '=', grain)
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy(['domain.id', 'domain.name'])
    .select((e) => [
      'domain.id',
      'domain.name',
      e.fn.sum<number | string>('requests').as('requests'),
      e.fn.sum<number | string>('bytes_out').as('bytes_out'),
    ])
    .execute();
  return rows.map(({ id, name, requests, bytes_out }) => {
    return { domainId: id, name, requests: Number(requests), bytesOut: Number(bytes_out) };
  });
}
