/**
 * All migrations from an empty database to the current one, the same on both engines. A released migration is never
 * edited.
 */
import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, type MigrationResultSet, Migrator } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';
import type { Schema } from '../schema/schema.ts';
import { domainsAndFeed } from './0001-domains-and-feed.ts';
import { cacheTasks } from './0002-cache-tasks.ts';
import { traffic } from './0005-traffic.ts';
import { sms } from './0006-sms.ts';
import { certificates } from './0007-certificates.ts';
import { acme } from './0008-acme.ts';
import { smsKeeping } from './0009-sms-keeping.ts';
import { smsReceiptTimes } from './0010-sms-receipt-times.ts';
import { tokenAddresses } from './0011-token-addresses.ts';
import { smsTurns } from './0012-sms-turns.ts';
import { smsExpiry } from './0013-sms-expiry.ts';
import { smsPinned } from './0014-sms-pinned.ts';
import { smsReceiptFacts } from './0015-sms-receipt-facts.ts';
import { logPositions } from './0016-log-positions.ts';
import { certificatePairs } from './0017-certificate-pairs.ts';
import { edgeOrigins } from './0018-edge-origins.ts';
import { smsUnread } from './0019-sms-unread.ts';
import { smsRevisable } from './0020-sms-revisable.ts';
import { smsReceiptMatching } from './0021-sms-receipt-matching.ts';
import { acmeRenewal } from './0022-acme-renewal.ts';
import { acmeWritten } from './0023-acme-written.ts';
import { live } from './0023-live.ts';
import { certificateKinds } from './0024-certificate-kinds.ts';
import { liveRecordings } from './0025-live-recordings.ts';
import { fleetIdentity } from './0026-fleet-identity.ts';
import { edgeGroups } from './0028-edge-groups.ts';
import { controls } from './0029-controls.ts';
import { viewKeys } from './0029-view-keys.ts';
import { edgeStates } from './0030-edge-states.ts';
import { accountLimits } from './0031-account-limits.ts';
import { keptAnswers } from './0031-kept-answers.ts';
import { tokenAccess } from './0031-token-access.ts';
import { tokenUse } from './0031-token-use.ts';
import { audit } from './0032-audit.ts';
import { domainRevisions } from './0032-domain-revisions.ts';
import { events } from './0033-events.ts';
import { addressLists } from './0035-address-lists.ts';
import { sessions } from './0036-sessions.ts';
import { people } from './0037-people.ts';
import { cacheTaskAccount } from './0038-cache-task-account.ts';
import { accountSums } from './0039-account-sums.ts';
import { smsDeliveryAttempts } from './0040-sms-delivery-attempts.ts';
import { smsSearch } from './0040-sms-search.ts';
import { connectorReports } from './0041-connector-reports.ts';
import { rejectReason } from './0041-reject-reason.ts';
import { identities } from './0042-identities.ts';
import { smsWatch } from './0043-sms-watch.ts';
import { fiveMinuteSums } from './0044-five-minute-sums.ts';
import { edgeSinks } from './0045-edge-sinks.ts';
import { tiers } from './0046-tiers.ts';
import { smsConnectorKinds } from './0047-sms-connector-kinds.ts';

/** Kysely applies them in the order of their names, which is that of the rows. */
const STEPS: Readonly<Record<string, (words: ColumnWords) => Migration>> = {
  '0001-domains-and-feed': domainsAndFeed,
  '0002-cache-tasks': cacheTasks,
  '0005-traffic': traffic,
  '0006-sms': sms,
  '0007-certificates': certificates,
  '0008-acme': acme,
  '0009-sms-keeping': smsKeeping,
  '0010-sms-receipt-times': smsReceiptTimes,
  '0011-token-addresses': tokenAddresses,
  '0012-sms-turns': smsTurns,
  '0013-sms-expiry': smsExpiry,
  '0014-sms-pinned': smsPinned,
  '0015-sms-receipt-facts': smsReceiptFacts,
  '0016-log-positions': logPositions,
  '0017-certificate-pairs': certificatePairs,
  '0018-edge-origins': edgeOrigins,
  '0019-sms-unread': smsUnread,
  '0020-sms-revisable': smsRevisable,
  '0021-sms-receipt-matching': smsReceiptMatching,
  '0022-acme-renewal': acmeRenewal,
  '0023-acme-written': acmeWritten,
  '0023-live': live,
  '0024-certificate-kinds': certificateKinds,
  '0025-live-recordings': liveRecordings,
  '0026-fleet-identity': fleetIdentity,
  '0028-edge-groups': edgeGroups,
  '0029-controls': controls,
  '0029-view-keys': viewKeys,
  '0030-edge-states': edgeStates,
  '0031-account-limits': accountLimits,
  '0031-kept-answers': keptAnswers,
  '0031-token-access': tokenAccess,
  '0031-token-use': tokenUse,
  '0032-audit': audit,
  '0032-domain-revisions': domainRevisions,
  '0033-events': events,
  '0035-address-lists': addressLists,
  '0036-sessions': sessions,
  '0037-people': people,
  '0038-cache-task-account': cacheTaskAccount,
  '0039-account-sums': accountSums,
  '0040-sms-delivery-attempts': smsDeliveryAttempts,
  '0040-sms-search': smsSearch,
  '0041-connector-reports': connectorReports,
  '0041-reject-reason': rejectReason,
  '0042-identities': identities,
  '0043-sms-watch': smsWatch,
  '0044-five-minute-sums': fiveMinuteSums,
  '0045-edge-sinks': edgeSinks,
  '0046-tiers': tiers,
  '0047-sms-connector-kinds': smsConnectorKinds,
};

/** Throws if a step fails, or if the database is of a newer release. */
export async function migrate(db: Kysely<Schema>, words: ColumnWords): Promise<void> {
  explain(await migratorOf(db, words).migrateToLatest());
}

/** Like `migrate`, up to `step`. Also throws if there is no such step, or if the database is beyond it. */
export async function migrateTo(db: Kysely<Schema>, words: ColumnWords, step: string): Promise<void> {
  if (!Object.hasOwn(STEPS, step))
    throw new Error(`${JSON.stringify(step)} is no state of the database that this release knows`);
  const present = await readStep(db);
  if (present !== undefined && present > step)
    throw new Error(`the database is at ${present} already, beyond ${step}: take a new, empty one`);
  explain(await migratorOf(db, words).migrateTo(step));
}

/** Returns the last migration of the database; `undefined` if there is none. */
export async function readStep(db: Kysely<Schema>): Promise<string | undefined> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return undefined;
  const { rows } = await sql<{ name: string | null }>`
    select max(name) as name from ${sql.table(DEFAULT_MIGRATION_TABLE)}
  `.execute(db);
  return rows[0]?.name ?? undefined;
}

export function newestStep(): string {
  return Object.keys(STEPS).sort().at(-1) ?? '';
}

function migratorOf(db: Kysely<Schema>, words: ColumnWords): Migrator {
  const steps = Object.fromEntries(Object.entries(STEPS).map(([name, create]) => [name, create(words)]));
  return new Migrator({ db, provider: { getMigrations: async () => steps } });
}

function explain({ error }: MigrationResultSet): void {
  if (error === undefined) return;
  const reason = error instanceof Error ? error.message : String(error);
  const isNewer = /previously executed migration \S+ is missing/.test(reason);
  const why = isNewer
    ? 'it has been used by a newer release; run that one, or restore a backup from before it'
    : reason;
  throw new Error(`the database cannot be brought up to date: ${why}`, { cause: error });
}
