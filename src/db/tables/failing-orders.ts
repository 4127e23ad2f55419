/** Certificate orders that have failed, or are held up. */
import type { Executor } from '../schema/schema.ts';

export interface FailingOrder {
  readonly domainId: number;
  readonly accountId: number;
  /** Name of the domain. */
  readonly name: string;
  /** An `OrderProblem`. */
  readonly problem: string;
  readonly detail: string;
  /** Failures since the last success. */
  readonly failures: number;
}

/** Limit of the list: an authority that is away lets all orders fail. */
const MAX_FAILING = 5_000;

export async function listFailingOrders(x: Executor): Promise<readonly FailingOrder[]> {
  const rows = await x
    .selectFrom('certificate_order')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .select(['domain_id', 'account_id', 'name', 'problem', 'detail', 'failures'])
    .where('problem', 'not in', ['', 'replaced'])
    .where('deleted_at', 'is', null)
    .orderBy('domain_id')
    .limit(MAX_FAILING)
    .execute();
  return rows.map(({ domain_id, account_id, ...rest }) => ({ domainId: domain_id, accountId: account_id, ...rest }));
}
