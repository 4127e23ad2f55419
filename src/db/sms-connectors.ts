/** Connectors and routes, as an operator sets them. A password lies sealed, and leaves only for the connector that needs it. */
import type { Transaction } from 'kysely';
import type { ConnectorSettings, LoopbackSettings, SmppSettings } from '#model/sms-connector.ts';
import type { Keyring } from './keyring.ts';
import type { Executor, Schema } from './schema.ts';
import { seal, unseal } from './sealing.ts';

export interface StoredConnector {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  /** Absent: as fast as the carrier answers. */
  readonly partsPerSecond: number | undefined;
  /** Without the password. */
  readonly settings: LoopbackSettings | Omit<SmppSettings, 'password'>;
  readonly secret: string | undefined;
  readonly changedAt: number;
}

export interface StoredRoute {
  readonly prefix: string;
  readonly connectorIds: readonly number[];
}

export async function listConnectors(x: Executor): Promise<readonly StoredConnector[]> {
  const rows = await x.selectFrom('sms_connector').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    enabled: row.enabled === 1,
    partsPerSecond: row.parts_per_second ?? undefined,
    // `as`: only `saveConnector` writes them.
    settings: { kind: 'loopback', ...(JSON.parse(row.settings) as object) } as StoredConnector['settings'],
    secret: row.secret ?? undefined,
    changedAt: row.changed_at,
  }));
}

/** What the connector is opened with. Throws `KeyringError` when the password does not open. */
export function openSettings(ring: Keyring, { id, settings, secret }: StoredConnector): ConnectorSettings {
  if (settings.kind === 'loopback') return settings;
  const password = secret === undefined ? '' : unseal(ring, placeOf(id), secret).toString();
  return { ...settings, password };
}

export interface ConnectorToSave {
  readonly name: string;
  readonly enabled: boolean;
  readonly partsPerSecond?: number;
  readonly settings: ConnectorSettings;
}

/** By name: one that is there is changed. Gives its id. */
export async function saveConnector(
  trx: Transaction<Schema>,
  ring: Keyring,
  { name, enabled, partsPerSecond, settings }: ConnectorToSave,
  now: number,
): Promise<number> {
  const { password, ...open } = settings.kind === 'smpp' ? settings : { ...settings, password: undefined };
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
  // It is sealed for its row, whose id is known only now.
  const secret = password === undefined ? null : seal(ring, placeOf(id), Buffer.from(password));
  await trx.updateTable('sms_connector').set({ secret }).where('id', '=', id).execute();
  return id;
}

function placeOf(id: number) {
  return { table: 'sms_connector', row: id, column: 'secret' };
}

/** By prefix, the connectors in the order of preference. */
export async function listRoutes(x: Executor): Promise<readonly StoredRoute[]> {
  const rows = await x.selectFrom('sms_route').selectAll().orderBy('prefix').orderBy('position').execute();
  const byPrefix = Map.groupBy(rows, ({ prefix }) => prefix);
  return [...byPrefix].map(([prefix, own]) => ({ prefix, connectorIds: own.map(({ connector_id }) => connector_id) }));
}

/** Without connectors the route is taken away. */
export async function saveRoute(trx: Transaction<Schema>, { prefix, connectorIds }: StoredRoute): Promise<void> {
  await trx.deleteFrom('sms_route').where('prefix', '=', prefix).execute();
  if (connectorIds.length === 0) return;
  const rows = connectorIds.map((connector_id, position) => ({ prefix, position, connector_id }));
  await trx.insertInto('sms_route').values(rows).execute();
}
