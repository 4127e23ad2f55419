/** Changes of several domains on the wire. Used by `wire.ts` and its handlers only. */
import { describeError, type ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { Domain } from '#model/domain.ts';
import type { Look } from './wire-domain.ts';
import { type Changed, writeChanged } from './wire-domain-changes.ts';

export type BulkResult =
  | { readonly domain: Domain; readonly changed: Changed; readonly error?: never }
  | { readonly domain: Domain; readonly changed?: never; readonly error: ServiceError };

export const READ_BULK = {
  'domain.changeMany': ({ domain_ids, set, dry_run }: RequestOf<'domain.changeMany'>) => ({
    domainIds: domain_ids,
    set,
    isDryRun: dry_run ?? false,
  }),
  'certificate.replace': ({ ssl_key, new_ssl_key, dry_run, after }: RequestOf<'certificate.replace'>) => ({
    sslKey: ssl_key,
    newSslKey: new_ssl_key,
    isDryRun: dry_run ?? false,
    after,
  }),
};

export const WRITE_BULK = {
  'domain.changeMany': (results: readonly BulkResult[], look: Look): DataOf<'domain.changeMany'> => ({
    list: results.map((result) => writeResult(result, look)),
  }),
  'certificate.replace': (
    { results, next }: { readonly results: readonly BulkResult[]; readonly next: string },
    look: Look,
  ): DataOf<'certificate.replace'> => ({ list: results.map((result) => writeResult(result, look)), next }),
};

function writeResult({ domain, changed, error }: BulkResult, look: Look): DataOf<'domain.changeMany'>['list'][number] {
  const named = { domain_id: String(domain.id), domain_name: domain.name };
  if (error === undefined) return { ...named, ...writeChanged(changed, look), error: null };
  const { code, parameters } = error;
  const text = describeError(code, parameters, look.locale);
  return { ...named, revision: String(domain.settingRevision), changes: [], warnings: [], error: { code, text } };
}
