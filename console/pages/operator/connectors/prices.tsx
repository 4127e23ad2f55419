/** What a part costs, by kind and prefix; and what that comes to for a number. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { SMS_OPERATOR_OPERATIONS } from '#contract/sms/sms-operator-operations.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { formatNumber } from '../../../lib/format.ts';
import { useRead } from '../../../queries.ts';
import { usePreference, useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { PRICE_WORDS } from '../../../text/connector-fields.ts';
import { connectorsText } from '../../../text/connectors.ts';
import { NumberTest } from './number-test.tsx';

type Price = DataOf<'smsOperator.listPrices'>['list'][number];

export function Prices() {
  const t = useText(connectorsText);
  const seesMoney = useSession().access.includes('money');
  if (!seesMoney) return <p className="help">{t.noMoney}</p>;
  return (
    <>
      <PriceCard />
      <NumberTest />
    </>
  );
}

function PriceCard() {
  const t = useText(connectorsText);
  const [isSetting, setSetting] = useState(false);
  const [deleted, setDeleted] = useState<Price>();
  const load = useRead('smsOperator.listPrices', {});
  const columns = useColumns(setDeleted);
  return (
    <Card
      title={t.views.prices}
      note={t.unit}
      isFlush
      actions={
        <Button icon="plus" onClick={() => setSetting(true)}>
          {t.setPrice}
        </Button>
      }
    >
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="audit" title={t.noPrices} />}>
        {({ list }) => (
          <Table
            label={t.views.prices}
            columns={columns}
            rows={list}
            keyOf={({ kind, prefix }) => `${kind} ${prefix}`}
          />
        )}
      </Loaded>
      {isSetting && (
        <FormDialog
          title={t.priceTitle}
          action={t.savePrice}
          name="smsOperator.setPrice"
          contract={request}
          words={PRICE_WORDS}
          initial={{ kind: 'ordinary', prefix: '', price: '' }}
          onDone={() => setSetting(false)}
          onClose={() => setSetting(false)}
        />
      )}
      {deleted && (
        <ConfirmChange
          title={t.deletePriceOf(deleted.prefix)}
          action={t.deletePrice}
          name="smsOperator.setPrice"
          request={{ kind: deleted.kind, prefix: deleted.prefix }}
          onClose={() => setDeleted(undefined)}
        >
          {t.deletePriceHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}

const { request } = SMS_OPERATOR_OPERATIONS['smsOperator.setPrice'];

function useColumns(onDelete: (price: Price) => void): readonly Column<Price>[] {
  const t = useText(connectorsText);
  const locale = usePreference('locale');
  return [
    {
      id: 'prefix',
      title: t.prefix,
      phone: 'first',
      show: ({ prefix }) =>
        prefix === '' ? <span className="dim">{t.others}</span> : <span className="mono">{prefix}</span>,
    },
    { id: 'kind', title: t.kind, show: ({ kind }) => t.kinds[kind] },
    { id: 'price', title: t.price, isNumber: true, show: ({ price }) => formatNumber(price, locale) },
    {
      id: 'actions',
      title: t.actions,
      phone: 'second',
      // The price of all other numbers can only be changed.
      show: (price) =>
        price.prefix !== '' && (
          <IconButton icon="trash" label={t.deletePriceOf(price.prefix)} onClick={() => onDelete(price)} />
        ),
    },
  ];
}
