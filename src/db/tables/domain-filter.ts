/** Filters of lists of domains, and states as users see them, in SQL. */
import { type ExpressionBuilder, sql } from 'kysely';
import type { Acknowledgements, InForce } from '#model/acknowledgement.ts';
import type { AccelerationType, DomainState } from '#model/domain.ts';
import type { Schema } from '../schema/schema.ts';

/** The domains that a caller may reach. Another one is not there, whoever has it. docs/decisions/0629 */
export interface OwnDomains {
  readonly accountId: number;
  /** Ids of domains of the account; `undefined`: all. */
  readonly domainIds: readonly number[] | undefined;
}

/**
 * State as shown to users. `open` appears as `accelerating` if the last change has reached the edges, and as
 * `configuring` otherwise.
 */
export type DomainStatus = 'configuring' | 'accelerating' | DomainState;

export interface DomainFilter {
  /** Absent: all accounts. */
  readonly accountId?: number | undefined;
  readonly domainIds: OwnDomains['domainIds'];
  readonly name?: string | undefined;
  readonly nameContains?: string | undefined;
  readonly remarkContains?: string | undefined;
  readonly type?: AccelerationType | undefined;
  /** Only domains that use the certificate. */
  readonly sslKey?: string | undefined;
  /** Any of these; absent: every domain. */
  readonly statuses?: readonly DomainStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly inForce: InForce;
}

/** All pages of a list together. */
export type DomainSelection = Omit<DomainFilter, 'limit' | 'offset'>;

export function whatFilterAsks(e: ExpressionBuilder<Schema, 'domain'>, filter: DomainSelection) {
  const { accountId, domainIds, name, nameContains = '', remarkContains = '', type, sslKey, statuses } = filter;
  return e.and([
    ...(accountId === undefined ? [] : [e('account_id', '=', accountId)]),
    ...(domainIds === undefined ? [] : [domainIds.length === 0 ? sql<boolean>`1 = 0` : e('id', 'in', domainIds)]),
    ...(name === undefined ? [] : [e('name', '=', name)]),
    e('deleted_at', 'is', null),
    ...(nameContains === '' ? [] : [matches(`%${escapeLike(nameContains.toLowerCase())}%`)]),
    ...(remarkContains === '' ? [] : [hasRemark(`%${escapeLike(remarkContains)}%`)]),
    ...(type === undefined ? [] : [e('type', '=', type)]),
    ...(sslKey === undefined ? [] : [usesCertificate(e, sslKey)]),
    ...(statuses === undefined ? [] : [e.or(statuses.map((status) => hasStatus(e, status, filter.inForce)))]),
  ]);
}

function hasStatus(e: ExpressionBuilder<Schema, 'domain'>, status: DomainStatus, inForce: InForce) {
  if (status !== 'configuring' && status !== 'accelerating') return e('state', '=', status);
  const { ready, reserve } = inForce;
  const isAcknowledged = e.or([
    isAcknowledgedBy(e, ready),
    e.and([e.not(isServedBy(e, ready)), isAcknowledgedBy(e, reserve)]),
  ]);
  return e.and([e('state', '=', 'open'), status === 'accelerating' ? isAcknowledged : e.not(isAcknowledged)]);
}

/** The SQL form of `isInForce`. */
function isAcknowledgedBy(e: ExpressionBuilder<Schema, 'domain'>, edges: Acknowledgements) {
  const { rejectedNames } = edges;
  return e.and([
    isAppliedByItsEdges(e, edges),
    ...(rejectedNames.length === 0 ? [] : [e('name', 'not in', rejectedNames)]),
  ]);
}

/** Whether any of these edges serves the domain. */
function isServedBy(e: ExpressionBuilder<Schema, 'domain'>, { floor, remote }: Acknowledgements) {
  if (remote === undefined || floor !== undefined) return sql<boolean>`${sql.lit(floor !== undefined)}`;
  const { groups, defaults } = remote;
  const names = [...groups.keys()];
  const own = ownGroups(e);
  const byDefault = sql<boolean>`${sql.lit(names.some((name) => defaults.has(name)))}`;
  return e.or([e.exists(own.where('group_name', 'in', names)), e.and([e.not(e.exists(own)), byDefault])]);
}

function ownGroups(e: ExpressionBuilder<Schema, 'domain'>) {
  return e
    .selectFrom('domain_group')
    .select('group_name')
    .whereRef('domain_id', '=', 'domain.id')
    .where('left_at', 'is', null);
}

/** The SQL form of `isInForce`, without rejections. */
function isAppliedByItsEdges(e: ExpressionBuilder<Schema, 'domain'>, { floor, remote }: Acknowledgements) {
  const isAtFloor = e('setting_revision', '<=', floor ?? -1);
  if (remote === undefined) return isAtFloor;
  const { groups, defaults } = remote;
  const own = ownGroups(e);
  const names = [...groups.keys()];
  const isBehind = own.where((of) =>
    of.or(
      [...Map.groupBy(groups, ([, lowest]) => lowest)].map(([lowest, same]) =>
        of.and([
          of(
            'group_name',
            'in',
            same.map(([name]) => name),
          ),
          of('domain.setting_revision', '>', lowest),
        ]),
      ),
    ),
  );
  const floors = [...groups].filter(([name]) => defaults.has(name)).map(([, lowest]) => lowest);
  const always = floor !== undefined;
  const byOwn = e.and([e.not(e.exists(isBehind)), ...(always ? [] : [e.exists(own.where('group_name', 'in', names))])]);
  const byDefault = e.and([
    e.not(e.exists(own)),
    ...(floors.length > 0 ? [e('setting_revision', '<=', Math.min(...floors))] : [sql<boolean>`${sql.lit(always)}`]),
  ]);
  return e.and([...(always ? [isAtFloor] : []), e.or([e.and([e.exists(own), byOwn]), byDefault])]);
}

/** Names are in lower case, so it does not matter whether LIKE is case-sensitive. */
export function matches(pattern: string) {
  return sql<boolean>`name like ${pattern} escape '!'`;
}

function hasRemark(pattern: string) {
  return sql<boolean>`lower(remark) like lower(${pattern}) escape '!'`;
}

function usesCertificate(e: ExpressionBuilder<Schema, 'domain'>, key: string) {
  const uses = e.selectFrom('certificate_use').select('domain_id').whereRef('domain_id', '=', 'domain.id');
  return e.exists(uses.where('certificate_key', '=', key));
}

export function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}
