/** Numbers that get no advertising of any account. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { SMS_OPERATOR_OPERATIONS } from '#contract/sms/sms-operator-operations.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { MoreButton } from '../../../components/more-button.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { usePages } from '../../../queries.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { OPT_OUT_WORDS } from '../../../text/connector-fields.ts';
import { connectorsText } from '../../../text/connectors.ts';

type Row = DataOf<'smsOperator.getOptOuts'>['list'][number];

const PAGE_SIZE = 50;

export function OptOuts() {
  const t = useText(connectorsText);
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState('');
  const pages = usePages('smsOperator.getOptOuts', { page_size: PAGE_SIZE }, 'after');
  const columns = useColumns(setRemoved);
  const mayWrite = useSession().access.includes('write');
  return (
    <Card
      title={t.views.optOuts}
      note={t.optOutsHelp}
      isFlush
      actions={
        mayWrite && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            {t.addOptOuts}
          </Button>
        )
      }
    >
      <Loaded
        load={pages.load}
        isEmpty={(rows) => rows.length === 0}
        empty={<Empty icon="messages" title={t.noOptOuts} />}
      >
        {(rows) => <Table label={t.views.optOuts} columns={columns} rows={rows} keyOf={({ mobile }) => mobile} />}
      </Loaded>
      {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
      {isAdding && (
        <FormDialog
          title={t.addOptOuts}
          action={t.addOptOuts}
          name="smsOperator.setOptOuts"
          contract={SMS_OPERATOR_OPERATIONS['smsOperator.setOptOuts'].request}
          words={OPT_OUT_WORDS}
          initial={{ opted_out: '1' }}
          onDone={() => setAdding(false)}
          onClose={() => setAdding(false)}
        />
      )}
      {removed !== '' && (
        <ConfirmChange
          name="smsOperator.setOptOuts"
          request={{ mobile: removed, opted_out: '0' }}
          title={t.removeOptOutTitle(removed)}
          action={t.removeOptOut}
          onClose={() => setRemoved('')}
        >
          {t.removeOptOutHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}

function useColumns(onRemove: (mobile: string) => void): readonly Column<Row>[] {
  const t = useText(connectorsText);
  const mayWrite = useSession().access.includes('write');
  return [
    { id: 'mobile', title: t.mobile, phone: 'first', show: ({ mobile }) => <span className="mono">{mobile}</span> },
    { id: 'when', title: t.when, show: ({ create_time }) => create_time },
    {
      id: 'remove',
      title: t.actions,
      phone: 'second',
      show: ({ mobile }) =>
        mayWrite && <IconButton icon="trash" label={`${t.removeOptOut}: ${mobile}`} onClick={() => onRemove(mobile)} />,
    },
  ];
}
