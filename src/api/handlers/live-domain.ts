/** A live domain that the caller may reach, by its name. */
import { ServiceError } from '#contract/errors/service-error.ts';
import { findDomainsByName } from '#db/tables/domains.ts';
import type { Domain } from '#model/domain.ts';
import { refuseNotLive } from '../settings/live-changes.ts';
import type { Call } from './handler.ts';

/** Throws `ServiceError` also for a domain of another type. */
export async function readLiveDomain({ db, accountId, domainIds }: Call, name: string): Promise<Domain> {
  const [domain] = await findDomainsByName(db.query, { accountId, domainIds, names: [name] });
  if (domain === undefined) throw new ServiceError('domainNotFound', { domainId: name });
  refuseNotLive(domain);
  return domain;
}
