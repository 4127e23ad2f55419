/** What is asked for a filter. Pure. */
import type { CallOf } from '#contract/operations.ts';
import type { AuditQuery } from '../../routes/account.ts';

const PAGE_SIZE = 50;

/** Leaves out the name of an operation that is still being typed: the service would refuse it. */
export function auditRequest({ account, operation, target_kind, target_id }: AuditQuery): CallOf<'auditOperator.list'> {
  return {
    ...(account !== '' && { account_id: account }),
    ...(/^[a-z]+\.[a-z]+$/i.test(operation) && { operation }),
    ...(target_kind !== '' && { target_kind }),
    ...(target_id !== '' && { target_id }),
    page_size: PAGE_SIZE,
  };
}
