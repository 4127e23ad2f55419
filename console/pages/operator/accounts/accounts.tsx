/** All accounts: found by name, created, opened. */
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { OPERATOR_OPERATIONS } from '#contract/operators/operator-operations.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { SearchInput } from '../../../components/input.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Page } from '../../../components/page.tsx';
import { Pager } from '../../../components/pager.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { formatNumber } from '../../../lib/format.ts';
import { formatAmount } from '../../../lib/format-amount.ts';
import { useTyped } from '../../../lib/use-typed.ts';
import { useRead } from '../../../queries.ts';
import { accountPath, accountsPath, readAccountsQuery } from '../../../routes/operators.ts';
import { usePreference, useSession } from '../../../services.tsx';
import { NEW_ACCOUNT_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import { AccountState } from './account-state.tsx';

type AccountPage = DataOf<'operator.listAccounts'>;
type Account = AccountPage['list'][number];

const PAGE_SIZE = 50;

export function Accounts() {
  const t = useText(accountsText);
  const [, navigate] = useLocation();
  const { name, page } = readAccountsQuery(useSearch());
  const [isAdding, setAdding] = useState(false);
  const typed = useTyped(name, (text) => navigate(accountsPath({ name: text }), { replace: true }));
  const load = useRead('operator.listAccounts', { name, page, page_size: PAGE_SIZE }, { keepsPrevious: true });
  const mayManage = useSession().access.includes('manage');
  return (
    <Page
      title={t.title}
      note={
        <span className="dim" role="status">
          {load.kind === 'ready' && t.count(load.data.total)}
        </span>
      }
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {t.create}
          </Button>
        )
      }
    >
      <search className="row">
        <SearchInput label={t.search} {...typed} />
      </search>
      <Card isFlush>
        <Loaded
          load={load}
          lines={8}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="search" title={t.none} text={t.noneHelp} />}
        >
          {(data) => (
            <>
              <AccountTable page={data} />
              <Pager
                page={page}
                total={data.total}
                pageSize={PAGE_SIZE}
                pathOf={(other) => accountsPath({ name, page: other })}
              />
            </>
          )}
        </Loaded>
      </Card>
      {isAdding && <CreateDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

function AccountTable({ page }: { readonly page: AccountPage }) {
  const t = useText(accountsText);
  const locale = usePreference('locale');
  const [, navigate] = useLocation();
  const columns: readonly Column<Account>[] = [
    {
      id: 'name',
      title: t.name,
      phone: 'first',
      show: ({ account_id, name }) => (
        <>
          <Link href={accountPath(account_id)}>{name}</Link> <span className="dim">{account_id}</span>
        </>
      ),
    },
    { id: 'kind', title: t.kind, show: ({ kind }) => <span className="dim">{t.kinds[kind]}</span> },
    { id: 'state', title: t.state, phone: 'second', show: (account) => <AccountState account={account} /> },
    { id: 'domains', title: t.domains, isNumber: true, show: ({ domains }) => formatNumber(domains, locale) },
    { id: 'apps', title: t.apps, isNumber: true, phone: 'hidden', show: ({ apps }) => formatNumber(apps, locale) },
    {
      id: 'tokens',
      title: t.tokens,
      isNumber: true,
      phone: 'hidden',
      show: ({ tokens }) => formatNumber(tokens, locale),
    },
    {
      id: 'balance',
      title: t.balance,
      isNumber: true,
      show: ({ balance }) => (balance === undefined ? '—' : formatAmount(balance, page, locale)),
    },
    { id: 'created', title: t.createdAt, phone: 'hidden', show: ({ create_time }) => create_time },
  ];
  return (
    <Table
      label={t.title}
      columns={columns}
      rows={page.list}
      keyOf={({ account_id }) => account_id}
      onOpen={({ account_id }) => navigate(accountPath(account_id))}
    />
  );
}

const { request } = OPERATOR_OPERATIONS['operator.createAccount'];

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useText(accountsText);
  const [, navigate] = useLocation();
  return (
    <FormDialog
      title={t.create}
      action={t.create}
      name="operator.createAccount"
      contract={request}
      words={NEW_ACCOUNT_WORDS}
      initial={{ name: '', kind: 'customer' }}
      choices={{ kind: ['customer', 'operator'] }}
      onDone={({ account_id }) => navigate(accountPath(account_id))}
      onClose={onClose}
    />
  );
}
