/** A domain that the caller may reach: read, or named for a change. */
import { ServiceError } from '#contract/errors/service-error.ts';
import { findDomain } from '#db/tables/domains.ts';
import type { Domain } from '#model/domain.ts';
import type { DomainKey } from '../settings/change.ts';
import type { Call } from './handler.ts';

export async function readOwnDomain({ db, accountId, domainIds }: Call, domainId: number): Promise<Domain> {
  const domain = await findDomain(db.query, { accountId, domainIds, id: domainId });
  if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
  return domain;
}

export function domainKeyOf({ accountId, domainIds, ifRevision }: Call, domainId: number): DomainKey {
  return { accountId, domainIds, domainId, ifRevision };
}
