/** An account that an operator names. */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import { findAccount } from '#db/tables/accounts.ts';
import type { Account } from '#model/account.ts';

export async function findAccountOrRefuse(db: Db, accountId: number): Promise<Account> {
  const account = await findAccount(db.query, accountId);
  if (account === undefined) throw new ServiceError('accountNotFound', { accountId });
  return account;
}
