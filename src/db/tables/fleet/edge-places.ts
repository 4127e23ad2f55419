/** Where edges are, published for name servers. docs/decisions/0719 */
import type { Transaction } from 'kysely';
import { PLACE_KIND, type PublishedPlace } from '#model/edge-place.ts';
import type { Schema } from '../../schema/schema.ts';
import { publish, readResourceBody } from '../resources.ts';

/** Publishes the place of an edge unless it is published already. `undefined` withdraws it. */
export async function publishPlace(
  trx: Transaction<Schema>,
  edge: string,
  place: PublishedPlace | undefined,
  now: number,
): Promise<void> {
  const resource = { kind: PLACE_KIND, key: edge };
  const wanted = place && JSON.stringify(place);
  if ((await readResourceBody(trx, resource)) === wanted) return;
  await publish(
    trx,
    [place === undefined ? { ...resource, op: 'delete' } : { ...resource, op: 'put', body: place }],
    now,
  );
}
