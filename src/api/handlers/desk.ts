/** `operator.getAccount`, `operator.getHealth`, `operator.getSettings` and the list of accounts. docs/decisions/0682 */
import type { RouteName } from '#contract/routes.ts';
import { countDomainStates, readAccountCounts, readLastTokenUse } from '#db/tables/account-overview.ts';
import { countAccounts, listAccounts } from '#db/tables/accounts.ts';
import { listControls } from '#db/tables/controls.ts';
import { listSmsApps } from '#db/tables/sms/apps.ts';
import { listSmsLedger } from '#db/tables/sms/balance.ts';
import type { Account } from '#model/account.ts';
import type { AccountView } from '../wire/wire-desk.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Call, Handler } from './handler.ts';

type DeskRoute = Extract<RouteName, `operator.${'getAccount' | 'getHealth' | 'getSettings' | 'listAccounts'}`>;

const MAX_APPS = 100;
const LEDGER_ENTRIES = 10;

export const DESK_HANDLERS = {
  'operator.listAccounts': async (call, filter) => {
    const { db, currency } = call;
    const accounts = await viewAccounts(call, await listAccounts(db.query, filter));
    return { total: await countAccounts(db.query, filter), accounts, currency };
  },

  'operator.getAccount': async (call, { accountId }) => {
    const { db, currency } = call;
    const account = await findAccountOrRefuse(db, accountId);
    const { apps } = await listSmsApps(db.query, { accountId, limit: MAX_APPS, offset: 0 });
    return {
      account: viewOf(call, account, await readAccountCounts(db.query, [accountId])),
      states: await countDomainStates(db.query, accountId),
      tokenUsedAt: await readLastTokenUse(db.query, accountId),
      apps,
      ...(seesMoney(call) && { entries: await listSmsLedger(db.query, { accountId, limit: LEDGER_ENTRIES }) }),
      currency,
    };
  },

  'operator.getHealth': async ({ db, now, readMetrics }) => {
    const { at, samples } = (await readMetrics()) ?? { at: 0, samples: [] };
    // On SQLite no control is recorded.
    const controls = await listControls(db.query, now);
    return { at, samples, engine: db.engine, controls };
  },

  'operator.getSettings': async ({ settings }) => settings,
} satisfies { readonly [N in DeskRoute]: Handler<N> };

async function viewAccounts(call: Call, accounts: readonly Account[]): Promise<readonly AccountView[]> {
  const counts = await readAccountCounts(
    call.db.query,
    accounts.map(({ id }) => id),
  );
  return accounts.map((account) => viewOf(call, account, counts));
}

function viewOf(call: Call, account: Account, counts: Awaited<ReturnType<typeof readAccountCounts>>): AccountView {
  const { balance = 0, ...others } = counts.get(account.id) ?? { domains: 0, apps: 0, tokens: 0 };
  return { account, ...others, balance: seesMoney(call) ? balance : undefined };
}

function seesMoney({ by }: Call): boolean {
  return by.access.includes('money');
}
