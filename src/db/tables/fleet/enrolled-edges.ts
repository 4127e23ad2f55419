/** Edges that have been enrolled: what identifies them, and whether they are revoked or suspect. */
import type { EdgeLabels } from '#model/fleet.ts';
import type { EdgeRow, Executor } from '../../schema/schema.ts';

export interface EnrolledEdge {
  readonly edge: string;
  /** `local`: it reports over the unix socket of control's machine, and has not been enrolled. */
  readonly kind: 'local' | 'edge';
  readonly group: string;
  readonly labels: EdgeLabels;
  /** Empty if unknown. */
  readonly machine: string;
  /** X25519 public key, base64; empty if unknown. */
  readonly sealKey: string;
  readonly revokedAt: number | undefined;
  readonly suspectAt: number | undefined;
}

export type Enrolment = Pick<EnrolledEdge, 'edge' | 'group' | 'labels' | 'machine' | 'sealKey'>;

export async function findEnrolledEdge(x: Executor, edge: string): Promise<EnrolledEdge | undefined> {
  const row = await x.selectFrom('edge').selectAll().where('id', '=', edge).executeTakeFirst();
  return row && toEdge(row);
}

export async function findEnrolledEdges(x: Executor, edges: readonly string[]): Promise<readonly EnrolledEdge[]> {
  if (edges.length === 0) return [];
  const rows = await x.selectFrom('edge').selectAll().where('id', 'in', edges).execute();
  return rows.map(toEdge);
}

/** Enrols an edge: new, or again after it was revoked or replaced. What it last reported stays. */
export async function enrolEdge(trx: Executor, enrolment: Enrolment, now: number): Promise<void> {
  const { edge, group, labels, machine, sealKey } = enrolment;
  const values = {
    kind: 'edge',
    group_name: group,
    labels: JSON.stringify(labels),
    machine,
    seal_key: sealKey,
    enrolled_at: now,
    revoked_at: null,
    revoke_reason: '',
    suspect_at: null,
    removed_at: null,
  };
  const unreported = { applied_revision: 0, rejected: '[]', build: '', started_at: 0, reported_at: 0 };
  await trx
    .insertInto('edge')
    .values({ id: edge, ...unreported, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute();
}

/** Returns false if no such edge is enrolled. The time and the reason of an earlier revocation stay. */
export async function setRevoked(trx: Executor, edge: string, reason: string, now: number): Promise<boolean> {
  const found = await trx
    .selectFrom('edge')
    .select('revoked_at')
    .where('id', '=', edge)
    .where('kind', '=', 'edge')
    .executeTakeFirst();
  if (found === undefined) return false;
  if (found.revoked_at !== null) return true;
  await trx.updateTable('edge').set({ revoked_at: now, revoke_reason: reason }).where('id', '=', edge).execute();
  return true;
}

/** Marks or clears that there are two copies of an edge. Returns whether that changed anything. */
export async function setSuspect(trx: Executor, edge: string, at: number | null): Promise<boolean> {
  const marked = await trx
    .updateTable('edge')
    .set({ suspect_at: at })
    .where('id', '=', edge)
    .where('suspect_at', at === null ? 'is not' : 'is', null)
    .returning('id')
    .executeTakeFirst();
  return marked !== undefined;
}

/** Returns the ids of the edges of which there are two copies. */
export async function findSuspects(x: Executor): Promise<ReadonlySet<string>> {
  const rows = await x.selectFrom('edge').select('id').where('suspect_at', 'is not', null).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Sets the machine of an edge; empty: it is learnt from the next renewal. */
export async function setMachine(trx: Executor, edge: string, machine: string): Promise<void> {
  await trx.updateTable('edge').set({ machine }).where('id', '=', edge).execute();
}

/** `sealKey`: X25519 public key, base64. */
export async function setSealKey(trx: Executor, edge: string, sealKey: string): Promise<void> {
  await trx.updateTable('edge').set({ seal_key: sealKey }).where('id', '=', edge).execute();
}

function toEdge(row: EdgeRow): EnrolledEdge {
  return {
    edge: row.id,
    kind: row.kind === 'edge' ? 'edge' : 'local',
    group: row.group_name,
    labels: JSON.parse(row.labels) as EdgeLabels, // `as`: written by `enrolEdge` only
    machine: row.machine,
    sealKey: row.seal_key,
    revokedAt: row.revoked_at ?? undefined,
    suspectAt: row.suspect_at ?? undefined,
  };
}
