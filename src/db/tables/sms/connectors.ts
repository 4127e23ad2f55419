/**
 * Connectors and routes as configured by operators. Passwords are stored sealed and unsealed only for their connector.
 */
import { sql, type Transaction } from 'kysely';
import {
  type CarrierSettings,
  CONNECTOR_DEFAULTS,
  type ConnectorKind,
  type ConnectorSettings,
  type LoopbackSettings,
} from '#model/sms-connector.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { type Keyring, KeyringError } from '../../secrets/keyring.ts';
import { seal, unseal } from '../../secrets/sealing.ts';
import { statement } from '../../statements/statement.ts';

export interface StoredConnector {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  /** Absent: no rate limit. */
  readonly partsPerSecond: number | undefined;
  /** Settings without the password. */
  readonly settings: LoopbackSettings | WithoutPassword<CarrierSettings>;
  readonly secret: string | undefined;
  readonly changedAt: number;
}

type WithoutPassword<S> = S extends CarrierSettings ? Omit<S, 'password'> : never;

export interface StoredRoute {
  readonly prefix: string;
  readonly connectorIds: readonly number[];
}

/** Locks connectors and routes against changes until the transaction ends. */
export async function lockConnectors(trx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(trx, 'sms connectors');
}

export async function listConnectors(x: Executor): Promise<readonly StoredConnector[]> {
  const rows = await x.selectFrom('sms_connector').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    enabled: row.enabled === 1,
    partsPerSecond: row.parts_per_second ?? undefined,
    // `as`, twice: only `saveConnector` writes them. Settings of an earlier release lack newer members.
    settings: {
      kind: row.kind,
      ...CONNECTOR_DEFAULTS[row.kind as ConnectorKind],
      ...(JSON.parse(row.settings) as object),
    } as StoredConnector['settings'],
    secret: row.secret ?? undefined,
    changedAt: row.changed_at,
  }));
}

/**
 * Returns the settings to open the connector with. Throws `KeyringError` if the password is missing or cannot be
 * unsealed.
 */
export function openSettings(ring: Keyring, { id, settings, secret }: StoredConnector): ConnectorSettings {
  if (settings.kind === 'loopback') return settings;
  // An export left it out, so it must be entered again.
  if (secret === undefined || secret === '') throw new KeyringError('its password is not there: give it anew');
  const password = unseal(ring, placeOf(id), secret).toString();
  // `as`: without it they lack nothing else.
  return { ...settings, password } as CarrierSettings;
}

export interface ConnectorToSave {
  readonly name: string;
  readonly enabled: boolean;
  readonly partsPerSecond?: number;
  /** Settings; without a password the stored one stays, even if nothing can open it. */
  readonly settings: ConnectorSettings | StoredConnector['settings'];
}

/** Saves a connector by name, changing an existing one. Returns its id. */
export async function saveConnector(
  trx: Transaction<Schema>,
  ring: Keyring,
  { name, enabled, partsPerSecond, settings }: ConnectorToSave,
  now: number,
): Promise<number> {
  const { password, ...open }: StoredConnector['settings'] & { readonly password?: string } = settings;
  const values = {
    kind: settings.kind,
    enabled: enabled ? 1 : 0,
    settings: JSON.stringify(open),
    parts_per_second: partsPerSecond ?? null,
    changed_at: now,
  };
  const { id } = await trx
    .insertInto('sms_connector')
    .values({ name, ...values })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .returning('id')
    .executeTakeFirstOrThrow();
  if (settings.kind !== 'loopback' && password === undefined) return id;
  // The password is sealed for its row, whose id is known only now.
  const secret = password === undefined ? null : seal(ring, placeOf(id), Buffer.from(password));
  await trx.updateTable('sms_connector').set({ secret }).where('id', '=', id).execute();
  return id;
}

/** Whether the connector has parts that have not ended. One select per state, so that each uses its own index range. */
export async function hasPartsUnderWay(x: Executor, id: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from sms_part where state = 'queued' and connector_id = ${id}
    union all select 1 from sms_part where state = 'submitting' and lease_until >= 0 and connector_id = ${id}
    union all select 1 from sms_part where state = 'submitted' and submitted_at >= 0 and connector_id = ${id}
    union all select 1 from sms_part where state = 'uncertain' and submitted_at >= 0 and connector_id = ${id}
    limit 1`.execute(x);
  return rows.length > 0;
}

/** Deletes a connector. Its id is never reused: sent parts and receipts keep it. */
export async function deleteConnector(trx: Transaction<Schema>, id: number): Promise<void> {
  await trx.deleteFrom('sms_connector').where('id', '=', id).execute();
}

function placeOf(id: number) {
  return { table: 'sms_connector', row: id, column: 'secret' };
}

/** Connectors of each prefix, in order of preference. */
export async function listRoutes(x: Executor): Promise<readonly StoredRoute[]> {
  return toRoutes((await ROUTES.execute(x)).rows);
}

const ROUTES = sql<RouteRow>`select prefix as prefix, connector_id as connector_id from sms_route order by prefix, position`;

export const selectRoutes = statement({}, () => ROUTES);

export interface RouteRow {
  readonly prefix: string;
  readonly connector_id: number;
}

export function toRoutes(rows: readonly RouteRow[]): readonly StoredRoute[] {
  const byPrefix = Map.groupBy(rows, ({ prefix }) => prefix);
  return [...byPrefix].map(([prefix, own]) => ({ prefix, connectorIds: own.map(({ connector_id }) => connector_id) }));
}

/** Saves a route; without connectors it is removed. Waiting parts move to the route that then fits them. */
export async function saveRoute(trx: Transaction<Schema>, { prefix, connectorIds }: StoredRoute): Promise<void> {
  const before = await listRoutes(trx);
  await trx.deleteFrom('sms_route').where('prefix', '=', prefix).execute();
  const rows = connectorIds.map((connector_id, position) => ({ prefix, position, connector_id }));
  if (rows.length > 0) await trx.insertInto('sms_route').values(rows).execute();
  if (rows.length === 0) await moveStrayParts(trx);
  else if (!before.some((route) => route.prefix === prefix))
    await sql`
      update sms_part set route = ${prefix} where state = 'queued' and route = ${longestOf(before, prefix)} and exists (
        select 1 from sms_message as m where m.id = sms_part.message_id and m.destination like ${`${prefix}%`})`.execute(
      trx,
    );
}

/**
 * Moves parts that wait for a removed route to the route that fits them now: also those that were accepted while it
 * was being removed.
 */
export async function moveStrayParts(trx: Transaction<Schema>): Promise<void> {
  // Steps from route to route in the index, independent of the number of parts.
  const { rows: strays } = await sql<{ route: string }>`
    with recursive lane (route) as (
      select min(route) from sms_part where state = 'queued'
      union all select (select min(p.route) from sms_part as p where p.state = 'queued' and p.route > lane.route)
        from lane where lane.route is not null)
    select route from lane
    where route <> '' and not exists (select 1 from sms_route as r where r.prefix = lane.route)`.execute(trx);
  if (strays.length === 0) return;
  const routes = await listRoutes(trx);
  for (const { route } of strays)
    await sql`update sms_part set route = ${longestOf(routes, route)} where state = 'queued' and route = ${route}`.execute(
      trx,
    );
}

/** Returns the longest of the prefixes that `prefix` begins with; empty if there is none. */
function longestOf(routes: readonly StoredRoute[], prefix: string): string {
  const shorter = routes.map((route) => route.prefix).filter((other) => other !== prefix && prefix.startsWith(other));
  return shorter.reduce((longest, other) => (other.length > longest.length ? other : longest), '');
}
