/** Earlier settings of domains: 200 of each domain, and up to 1,000 of the last 30 days. docs/decisions/0624 */
import type { Transaction } from 'kysely';
import { DAY_MS } from '#lib/durations.ts';
import type { AuditEvent } from '#model/audit.ts';
import type { Domain, DomainSettings } from '#model/domain.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { listAuditEventsOf } from './audit.ts';
import { parseSettings } from './domains.ts';

const KEPT = 200;
const KEEP_MS = 30 * DAY_MS;
/** Limit of revisions of a domain, however young: a program may change it all the time. */
const MAX_KEPT = 1_000;

export interface DomainRevision {
  readonly revision: number;
  /** Time of the change; of settings from before revisions were kept, the time at which the domain was added. */
  readonly madeAt: number;
  /** Absent: it was made by a release without an audit trail, or the event is no longer kept. */
  readonly event: AuditEvent | undefined;
}

/**
 * Keeps the settings of a domain under its revision, and deletes the oldest. A revision keeps its time: its settings change
 * when a certificate is renewed. The caller has locked the domain.
 */
export async function keepRevision(
  trx: Transaction<Schema>,
  { id, settingRevision, settings }: Domain,
  now: number,
): Promise<void> {
  const stored = JSON.stringify(settings);
  await trx
    .insertInto('domain_revision')
    .values({ domain_id: id, revision: settingRevision, made_at: now, settings: stored })
    .onConflict((conflict) => conflict.columns(['domain_id', 'revision']).doUpdateSet({ settings: stored }))
    .execute();
  const newest = (count: number) =>
    trx
      .selectFrom('domain_revision as newer')
      .select('newer.revision')
      .where('newer.domain_id', '=', id)
      .orderBy('newer.revision', 'desc')
      .limit(1)
      .offset(count - 1);
  await trx
    .deleteFrom('domain_revision')
    .where('domain_id', '=', id)
    .where((e) =>
      e.or([
        e('revision', '<', newest(MAX_KEPT)),
        e.and([e('made_at', '<', now - KEEP_MS), e('revision', '<', newest(KEPT))]),
      ]),
    )
    .execute();
}

/** Newest first. `before`: only older ones. */
export async function listRevisions(
  x: Executor,
  {
    domainId,
    before,
    limit,
  }: { readonly domainId: number; readonly before: number | undefined; readonly limit: number },
): Promise<readonly DomainRevision[]> {
  let query = x.selectFrom('domain_revision').select(['revision', 'made_at']).where('domain_id', '=', domainId);
  if (before !== undefined) query = query.where('revision', '<', before);
  const rows = await query.orderBy('revision', 'desc').limit(limit).execute();
  const events = await listAuditEventsOf(
    x,
    domainId,
    rows.map(({ revision }) => revision),
  );
  return rows.map(({ revision, made_at }) => ({ revision, madeAt: made_at, event: events.get(revision) }));
}

export async function findRevision(
  x: Executor,
  { domainId, revision }: { readonly domainId: number; readonly revision: number },
): Promise<(DomainRevision & { readonly settings: DomainSettings }) | undefined> {
  const row = await x
    .selectFrom('domain_revision')
    .selectAll()
    .where('domain_id', '=', domainId)
    .where('revision', '=', revision)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const event = (await listAuditEventsOf(x, domainId, [revision])).get(revision);
  return { revision, madeAt: row.made_at, event, settings: parseSettings(row.settings) };
}

/** Deletes the revisions of domains that were deleted more than 30 days ago. */
export async function pruneRevisions(trx: Transaction<Schema>, now: number): Promise<void> {
  const gone = trx
    .selectFrom('domain')
    .select('id')
    .where('deleted_at', '<', now - KEEP_MS);
  await trx.deleteFrom('domain_revision').where('domain_id', 'in', gone).execute();
}
