/** Certificates of enrolled edges. One is looked up at each connection of an edge. */
import type { Selectable } from 'kysely';
import { toModelNames } from '#lib/model-names.ts';
import type { EdgeCertificateState } from '#model/fleet.ts';
import type { FleetTables } from '../../schema/fleet.ts';
import type { Executor } from '../../schema/schema.ts';

/** Longer than the longest `fleet-renew-grace-days`. */
const KEEP_MS = 400 * 86_400_000;

export interface EdgeCertificate {
  readonly serial: string;
  readonly edge: string;
  /** Key of the authority that issued it. */
  readonly authority: string;
  /** SHA-256 of its public key, hex. */
  readonly publicKey: string;
  /** PEM. */
  readonly certificate: string;
  /** The token it was enrolled with; `undefined` for a renewal. */
  readonly tokenId: number | undefined;
  readonly state: EdgeCertificateState;
  readonly madeAt: number;
  readonly notAfter: number;
  readonly replacedAt: number | undefined;
}

export async function addEdgeCertificate(trx: Executor, certificate: EdgeCertificate): Promise<void> {
  await trx
    .insertInto('edge_certificate')
    .values({
      serial: certificate.serial,
      edge: certificate.edge,
      authority: certificate.authority,
      public_key: certificate.publicKey,
      certificate: certificate.certificate,
      token_id: certificate.tokenId ?? null,
      state: certificate.state,
      made_at: certificate.madeAt,
      not_after: certificate.notAfter,
      replaced_at: certificate.replacedAt ?? null,
    })
    .execute();
}

export async function findEdgeCertificate(x: Executor, serial: string): Promise<EdgeCertificate | undefined> {
  const row = await x.selectFrom('edge_certificate').selectAll().where('serial', '=', serial).executeTakeFirst();
  return row && toCertificate(row);
}

/** Finds the certificates of these serials. Serials that are unknown are left out. */
export async function findEdgeCertificates(
  x: Executor,
  serials: readonly string[],
): Promise<readonly EdgeCertificate[]> {
  if (serials.length === 0) return [];
  const rows = await x.selectFrom('edge_certificate').selectAll().where('serial', 'in', serials).execute();
  return rows.map(toCertificate);
}

/** Finds the certificate for a key that was issued with this token, or by renewal for this edge; the newest. */
export async function findIssued(
  x: Executor,
  by: { readonly tokenId: number } | { readonly edge: string },
  publicKey: string,
): Promise<EdgeCertificate | undefined> {
  const all = x.selectFrom('edge_certificate').selectAll().where('public_key', '=', publicKey);
  const issued = 'edge' in by ? all.where('edge', '=', by.edge) : all.where('token_id', '=', by.tokenId);
  const row = await issued.orderBy('made_at', 'desc').executeTakeFirst();
  return row && toCertificate(row);
}

/**
 * Makes a certificate the edge's current one; its others are then replaced, unless they are revoked. Does nothing if the
 * certificate's state is not in `from`.
 */
export async function makeCurrent(
  trx: Executor,
  { edge, serial }: Pick<EdgeCertificate, 'edge' | 'serial'>,
  { from, now }: { readonly from: readonly EdgeCertificateState[]; readonly now: number },
): Promise<void> {
  const made = await trx
    .updateTable('edge_certificate')
    .set({ state: 'current', replaced_at: null })
    .where('serial', '=', serial)
    .where('state', 'in', from)
    .returning('serial')
    .executeTakeFirst();
  if (made === undefined) return;
  await trx
    .updateTable('edge_certificate')
    .set({ state: 'replaced', replaced_at: now })
    .where('edge', '=', edge)
    .where('serial', '<>', serial)
    .where('state', 'in', ['new', 'current'])
    .execute();
}

/** Revokes all certificates of an edge. */
export async function revokeCertificates(trx: Executor, edge: string): Promise<void> {
  await trx.updateTable('edge_certificate').set({ state: 'revoked' }).where('edge', '=', edge).execute();
}

/** Lists the edges with a certificate of this authority with which they may still connect or renew, by name. */
export async function listEdgesUnder(x: Executor, authority: string, notAfter: number): Promise<readonly string[]> {
  const rows = await x
    .selectFrom('edge_certificate')
    .select('edge')
    .distinct()
    .where('authority', '=', authority)
    .where('state', 'in', ['new', 'current'])
    .where('not_after', '>', notAfter)
    .orderBy('edge')
    .execute();
  return rows.map(({ edge }) => edge);
}

/** Returns when the last certificate of each edge ends that it may connect with, epoch milliseconds, by edge. */
export async function readCertificateEnds(x: Executor): Promise<ReadonlyMap<string, number>> {
  const rows = await x
    .selectFrom('edge_certificate')
    .select((e) => ['edge', e.fn.max('not_after').as('ends')])
    .where('state', 'in', ['new', 'current'])
    .groupBy('edge')
    .execute();
  return new Map(rows.map(({ edge, ends }) => [edge, Number(ends)]));
}

/** Deletes certificates that ended more than 400 days ago: none of them may be renewed any more. */
export async function pruneEdgeCertificates(x: Executor, now: number): Promise<void> {
  await x
    .deleteFrom('edge_certificate')
    .where('not_after', '<', now - KEEP_MS)
    .execute();
}

function toCertificate(row: Selectable<FleetTables['edge_certificate']>): EdgeCertificate {
  return { ...toModelNames(row), state: row.state as EdgeCertificateState }; // written by this file only
}
