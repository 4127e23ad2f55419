/** A domain that the caller may reach: read, or named for a change. */
import { ServiceError } from '#contract/errors/service-error.ts';
import { listDomainsById } from '#db/tables/domain-pages.ts';
import { findDomain, reaches } from '#db/tables/domains.ts';
import type { Domain } from '#model/domain.ts';
import type { DomainKey } from '../settings/change.ts';
import type { Call } from './handler.ts';

export async function readOwnDomain({ db, accountId, domainIds }: Call, domainId: number): Promise<Domain> {
  const domain = await findDomain(db.query, { accountId, domainIds, id: domainId });
  if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
  return domain;
}

/** Returns the domains in the order of their ids. */
export async function readOwnDomains(call: Call, domainIds: readonly number[]): Promise<readonly Domain[]> {
  const found = (await listDomainsById(call.db.query, domainIds)).filter((domain) => reaches(call, domain));
  const missing = domainIds.find((id) => !found.some((domain) => domain.id === id));
  if (missing !== undefined) throw new ServiceError('domainNotFound', { domainId: missing });
  return found;
}

export function domainKeyOf({ accountId, domainIds, ifRevision }: Call, domainId: number): DomainKey {
  return { accountId, domainIds, domainId, ifRevision };
}
