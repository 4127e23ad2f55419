/** One account as operators see it: what it has, its limits, its tokens, its money; looking at it as its customer. */
import { useState } from 'react';
import { useParams } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { SESSION_OPERATIONS } from '#contract/people/session-operations.ts';
import { Button } from '../../../components/button.tsx';
import { Later } from '../../../components/later.tsx';
import { Loaded, Skeleton } from '../../../components/loaded.tsx';
import { Page } from '../../../components/page.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useAtOnce } from '../../../forms/use-at-once.ts';
import { lazily } from '../../../lib/lazily.ts';
import { useRead } from '../../../queries.ts';
import { ACCOUNT_TABS, type AccountTab, accountPath, readAccountTab } from '../../../routes/operators.ts';
import { PATHS } from '../../../routes.ts';
import { useSession } from '../../../services.tsx';
import { LOOK_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import { AccountOverview } from './account-overview.tsx';
import { AccountState } from './account-state.tsx';
import { AccountTokens } from './account-tokens.tsx';
import { PersonDialog } from './person-dialog.tsx';

/** Tabs with the contract of other subjects. */
const AccountDomains = lazily(async () => (await import('./account-domains.tsx')).AccountDomains);
const AccountMoney = lazily(async () => (await import('./account-money.tsx')).AccountMoney);

export type AccountData = DataOf<'operator.getAccount'>;

export function Account() {
  const t = useText(accountsText);
  const { id = '', tab: given } = useParams();
  const tab = readAccountTab(given);
  const load = useRead('operator.getAccount', { account_id: id });
  const account = load.kind === 'ready' ? load.data : undefined;
  return (
    <Page
      title={account?.name ?? t.title}
      back={{ to: PATHS.accounts, title: t.title }}
      note={account && <AccountState account={account} />}
      actions={account && <Actions account={account} />}
    >
      <Tabs
        label={t.parts}
        tabs={ACCOUNT_TABS.map((name) => ({ to: accountPath(id, name), title: t.tabs[name], isOpen: name === tab }))}
      />
      <Loaded load={load} lines={6}>
        {(data) => (
          <Later as="part" about={tab} fallback={<Skeleton lines={6} />}>
            <Tab key={id} tab={tab} account={data} />
          </Later>
        )}
      </Loaded>
    </Page>
  );
}

function Tab({ tab, account }: { readonly tab: AccountTab; readonly account: AccountData }) {
  switch (tab) {
    case 'overview':
      return <AccountOverview account={account} />;
    case 'domains':
      return <AccountDomains accountId={account.account_id} />;
    case 'tokens':
      return <AccountTokens account={account} />;
    case 'money':
      return <AccountMoney account={account} />;
  }
}

function Actions({ account: { account_id, name, kind, enabled } }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const { access, account_id: own } = useSession();
  const [asked, setAsked] = useState<'look' | 'disable' | 'person'>();
  const setStatus = useAtOnce('operator.setAccountStatus');
  const close = () => setAsked(undefined);
  const mayDisable = access.includes('manage') && account_id !== own;
  return (
    <>
      {mayDisable && enabled === '1' && <Button onClick={() => setAsked('disable')}>{t.disable}</Button>}
      {mayDisable && enabled === '0' && (
        <Button
          isBusy={setStatus.isBusy}
          onClick={() => setStatus.run({ account_id, enabled: '1' }, { about: `account ${account_id}`, name })}
        >
          {t.enable}
        </Button>
      )}
      {access.includes('manage') && <Button onClick={() => setAsked('person')}>{t.addPerson}</Button>}
      {kind === 'customer' && <Button onClick={() => setAsked('look')}>{t.look}</Button>}
      {asked === 'look' && (
        <FormDialog
          title={t.look}
          help={t.lookHelp}
          action={t.looking}
          name="session.look"
          contract={SESSION_OPERATIONS['session.look'].request}
          words={LOOK_WORDS}
          initial={{ account_id, reason: '' }}
          onDone={openStart}
          onClose={close}
        />
      )}
      {asked === 'person' && <PersonDialog account={{ account_id, kind }} onClose={close} />}
      {asked === 'disable' && (
        <ConfirmChange
          title={t.disableTitle(name)}
          action={t.disable}
          name="operator.setAccountStatus"
          request={{ account_id, enabled: '0' }}
          onClose={close}
        >
          {t.disableHelp}
        </ConfirmChange>
      )}
    </>
  );
}

/** Loads the console anew, as another account, so that nothing is left of the operator's data. */
function openStart(): void {
  location.assign(import.meta.env.BASE_URL);
}
