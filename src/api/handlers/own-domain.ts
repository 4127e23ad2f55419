/** A domain of the caller's account, to be read. */
import { ServiceError } from '#contract/service-error.ts';
import { findDomain } from '#db/tables/domains.ts';
import type { Domain } from '#model/domain.ts';
import type { Call } from './handler.ts';

export async function readOwnDomain({ db, accountId }: Call, domainId: number): Promise<Domain> {
  const domain = await findDomain(db.query, { accountId, id: domainId });
  if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
  return domain;
}
