/** Balance, ledger and SMS services of an account. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { SMS_OPERATOR_OPERATIONS } from '#contract/sms/sms-operator-operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { formatAmount } from '../../../lib/format-amount.ts';
import { useRead } from '../../../queries.ts';
import { usePreference, useServices, useSession } from '../../../services.tsx';
import { NEW_APP_WORDS, RECHARGE_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import type { AccountData } from './account.tsx';

type Entry = DataOf<'smsOperator.listLedger'>['list'][number];

const PAGE_SIZE = 20;

export function AccountMoney({ account }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const seesMoney = useSession().access.includes('money');
  return (
    <>
      <Apps account={account} />
      {seesMoney ? <Ledger account={account} /> : <p className="help">{t.noMoney}</p>}
    </>
  );
}

function Ledger({ account }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const locale = usePreference('locale');
  const { toasts } = useServices();
  const [before, setBefore] = useState('');
  const [isRecharging, setRecharging] = useState(false);
  const { account_id } = account;
  const load = useRead('smsOperator.listLedger', { account_id, before, page_size: PAGE_SIZE }, { keepsPrevious: true });
  const columns = useColumns(account);
  return (
    <Card
      title={t.ledger}
      note={load.kind === 'ready' && t.balanceIs(formatAmount(load.data.balance, account, locale))}
      isFlush
      actions={<Button onClick={() => setRecharging(true)}>{t.recharge}</Button>}
    >
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="audit" title={t.noEntries} />}>
        {({ list }) => (
          <>
            <Table label={t.ledger} columns={columns} rows={list} keyOf={({ entry_id }) => entry_id} />
            <div className="row pad">
              {before !== '' && <Button onClick={() => setBefore('')}>{t.latest}</Button>}
              {list.length === PAGE_SIZE && (
                <Button onClick={() => setBefore(list.at(-1)?.entry_id ?? '')}>{t.earlier}</Button>
              )}
            </div>
          </>
        )}
      </Loaded>
      {isRecharging && (
        <FormDialog
          title={t.recharge}
          action={t.recharge}
          name="smsOperator.recharge"
          contract={SMS_OPERATOR_OPERATIONS['smsOperator.recharge'].request}
          words={RECHARGE_WORDS}
          initial={{ account_id, amount: '', reference: '' }}
          onDone={({ balance }) => {
            toasts.show({ about: `account ${account_id}`, title: t.recharged(formatAmount(balance, account, locale)) });
            setRecharging(false);
          }}
          onClose={() => setRecharging(false)}
        />
      )}
    </Card>
  );
}

function useColumns(account: AccountData): readonly Column<Entry>[] {
  const t = useText(accountsText);
  const locale = usePreference('locale');
  const kinds: Readonly<Record<string, string>> = t.entryKinds;
  return [
    { id: 'what', title: t.what, phone: 'first', show: ({ kind }) => kinds[kind] ?? kind },
    {
      id: 'amount',
      title: t.amount,
      isNumber: true,
      phone: 'second',
      show: ({ amount }) => formatAmount(amount, account, locale),
    },
    {
      id: 'about',
      title: t.about,
      show: ({ reference, sendid, mobile }) => (
        <span className="mono wrap">{reference || [mobile, sendid].filter(Boolean).join(' · ')}</span>
      ),
    },
    { id: 'when', title: t.when, show: ({ create_time }) => create_time },
  ];
}

function Apps({ account: { account_id, kind, sms_apps } }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const { toasts } = useServices();
  const [isAdding, setAdding] = useState(false);
  const mayCreate = useSession().access.includes('money') && kind === 'customer';
  return (
    <Card
      title={t.apps}
      isFlush
      actions={
        mayCreate && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            {t.createApp}
          </Button>
        )
      }
    >
      {sms_apps.length === 0 ? (
        <Empty icon="services" title={t.noApps} />
      ) : (
        <Table label={t.apps} columns={appColumns(t)} rows={sms_apps} keyOf={({ app_key }) => app_key} />
      )}
      {isAdding && (
        <FormDialog
          title={t.createApp}
          action={t.createApp}
          name="smsOperator.createApp"
          contract={SMS_OPERATOR_OPERATIONS['smsOperator.createApp'].request}
          words={NEW_APP_WORDS}
          initial={{ account_id, name: '' }}
          onDone={({ app_key }) => {
            toasts.show({ about: `app ${app_key}`, title: t.appCreated(app_key) });
            setAdding(false);
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </Card>
  );
}

function appColumns(t: (typeof accountsText)['en']): readonly Column<AccountData['sms_apps'][number]>[] {
  return [
    { id: 'name', title: t.name, phone: 'first', show: ({ name }) => name },
    { id: 'key', title: t.appKey, show: ({ app_key }) => <span className="mono wrap">{app_key}</span> },
    {
      id: 'state',
      title: t.state,
      phone: 'second',
      show: ({ status }) => <Badge tone={status === 1 ? 'ok' : 'idle'}>{status === 1 ? t.enabled : t.disabled}</Badge>,
    },
  ];
}
