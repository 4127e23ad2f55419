/** Changes of several domains by one call, one after another, each in a transaction of its own. docs/decisions/0672 */
import type { SettingsToChange } from '#contract/changes/setting-topics.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { quote } from '#contract/schema/found.ts';
import { findCertificate, isCertificateReached } from '#db/tables/certificates.ts';
import { listDomainsById, listDomainsWith } from '#db/tables/domain-pages.ts';
import { reaches } from '#db/tables/domains.ts';
import type { Domain } from '#model/domain.ts';
import type { BulkResult } from '../wire/wire-bulk.ts';
import { change } from './domain-changes.ts';
import type { Call, Handler } from './handler.ts';

/** Domains of one call. */
const MAX_REPLACED = 100;

export const BULK_HANDLERS = {
  'domain.changeMany': async (call, { domainIds, set, isDryRun }) => {
    const domains = await listDomainsById(call.db.query, domainIds);
    const missing = domainIds.find((id) => !domains.some((domain) => domain.id === id && reaches(call, domain)));
    if (missing !== undefined) throw new ServiceError('domainNotFound', { domainId: missing });
    return await changeEach(call, domains, isDryRun, () => set);
  },

  'certificate.replace': async (call, { sslKey, newSslKey, isDryRun, after }) => {
    const { db, accountId, domainIds } = call;
    await findCertificateOrRefuse(call, sslKey);
    if ((await findCertificate(db.query, { accountId, key: newSslKey })) === undefined)
      throw new ServiceError('certificateNotFound', { sslKey: quote(newSslKey) });
    const asked = { accountId, domainIds, sslKey, after, limit: MAX_REPLACED + 1 };
    const found = await listDomainsWith(db.query, asked);
    const domains = found.slice(0, MAX_REPLACED);
    const results = await changeEach(call, domains, isDryRun, ({ settings }) => ({
      ssl: settings.sslKey === sslKey ? { ssl_key: newSslKey } : { ssl_key_second: newSslKey },
    }));
    return { results, next: found.length > MAX_REPLACED ? String(domains.at(-1)?.id ?? '') : '' };
  },
} satisfies { readonly [N in 'domain.changeMany' | 'certificate.replace']: Handler<N> };

/** Throws `certificateNotFound` also for one that the caller's token may not see. */
export async function findCertificateOrRefuse(call: Call, sslKey: string) {
  const { db, accountId } = call;
  const found = await findCertificate(db.query, { accountId, key: sslKey });
  if (found === undefined || !(await isCertificateReached(db.query, call, sslKey)))
    throw new ServiceError('certificateNotFound', { sslKey: quote(sslKey) });
  return found;
}

async function changeEach(
  call: Call,
  domains: readonly Domain[],
  isDryRun: boolean,
  choose: (domain: Domain) => SettingsToChange,
): Promise<readonly BulkResult[]> {
  const results: BulkResult[] = [];
  for (const domain of domains) {
    try {
      results.push({ domain, changed: await change(call, domain.id, isDryRun, choose) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      results.push({ domain, error });
    }
  }
  return results;
}
