/** Balance, ledger and SMS services of an account. */
import { useState } from 'react';
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
import { ledgerText } from '../../../text/ledger.ts';
import { LEDGER_PAGE_SIZE, Ledger } from '../../messages/ledger.tsx';
import type { AccountData } from './account.tsx';

export function AccountMoney({ account }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const seesMoney = useSession().access.includes('money');
  return (
    <>
      <Apps account={account} />
      {seesMoney ? <Money account={account} /> : <p className="help">{t.noMoney}</p>}
    </>
  );
}

function Money({ account }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const words = useText(ledgerText);
  const locale = usePreference('locale');
  const { toasts } = useServices();
  const [before, setBefore] = useState('');
  const [isRecharging, setRecharging] = useState(false);
  const { account_id } = account;
  const request = { account_id, before, page_size: LEDGER_PAGE_SIZE };
  const load = useRead('smsOperator.listLedger', request, { keepsPrevious: true });
  return (
    <Card
      title={words.title}
      note={load.kind === 'ready' && words.balanceIs(formatAmount(load.data.balance, account, locale))}
      isFlush
      actions={<Button onClick={() => setRecharging(true)}>{t.recharge}</Button>}
    >
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="audit" title={words.none} />}>
        {({ list }) => <Ledger entries={list} money={account} before={before} onBefore={setBefore} />}
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
