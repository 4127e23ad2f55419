/** What a session says about itself. Pure. */
import type { DataOf } from '#contract/operations.ts';

type Session = DataOf<'session.get'>;

/** Whether the account in view asks for a second factor that the person has not proven: everything else is refused. */
export function lacksSecondFactor({ person, accounts, account_id, method }: Session): boolean {
  const inView = accounts.find((account) => account.account_id === account_id);
  return person !== null && inView?.second_factor === '1' && method === 'password';
}

/** The same while the same somebody acts for the same account: whatever was read for another one is not to be shown. */
export function viewOf({ person, token, account_id, look }: Session): string {
  return JSON.stringify([person?.person_id, token?.token_id, account_id, look?.account_id]);
}
