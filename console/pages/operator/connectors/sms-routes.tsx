/** Which connectors the numbers of a prefix take, the preferred first. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { SMS_OPERATOR_OPERATIONS } from '#contract/sms/sms-operator-operations.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useRead } from '../../../queries.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { ROUTE_WORDS } from '../../../text/connector-fields.ts';
import { connectorsText } from '../../../text/connectors.ts';

type SmsRoute = DataOf<'smsOperator.listRoutes'>['list'][number];
interface Asked {
  readonly what: 'set' | 'delete';
  /** Absent: a new one. */
  readonly route?: SmsRoute;
}

export function Routes() {
  const t = useText(connectorsText);
  const [asked, setAsked] = useState<Asked>();
  const load = useRead('smsOperator.listRoutes', {});
  const columns = useColumns(setAsked);
  const mayWrite = useSession().access.includes('write');
  return (
    <Card
      title={t.views.routes}
      isFlush
      actions={
        mayWrite && (
          <Button icon="plus" onClick={() => setAsked({ what: 'set' })}>
            {t.setRoute}
          </Button>
        )
      }
    >
      <Loaded
        load={load}
        isEmpty={({ list }) => list.length === 0}
        empty={<Empty icon="connectors" title={t.noRoutes} />}
      >
        {({ list }) => <Table label={t.views.routes} columns={columns} rows={list} keyOf={({ prefix }) => prefix} />}
      </Loaded>
      {asked && <AskedDialog {...asked} onClose={() => setAsked(undefined)} />}
    </Card>
  );
}

function AskedDialog({ what, route, onClose }: Asked & { readonly onClose: () => void }) {
  const t = useText(connectorsText);
  const { prefix = '', connectors = [], revision } = route ?? {};
  const condition = revision !== undefined && { if_revision: revision };
  if (what === 'delete') {
    return (
      <ConfirmChange
        title={t.deleteRouteOf(prefix || t.others)}
        action={t.deleteRoute}
        name="smsOperator.setRoute"
        request={{ prefix, connectors: [], ...condition }}
        onClose={onClose}
      >
        {t.deleteRouteHelp}
      </ConfirmChange>
    );
  }
  return (
    <FormDialog
      title={t.routeTitle}
      action={t.saveRoute}
      name="smsOperator.setRoute"
      contract={SMS_OPERATOR_OPERATIONS['smsOperator.setRoute'].request}
      words={route === undefined ? ROUTE_WORDS : { connectors: ROUTE_WORDS.connectors }}
      initial={{ prefix, connectors, ...condition }}
      onDone={onClose}
      onClose={onClose}
    />
  );
}

function useColumns(onAsk: (asked: Asked) => void): readonly Column<SmsRoute>[] {
  const t = useText(connectorsText);
  const mayWrite = useSession().access.includes('write');
  return [
    {
      id: 'prefix',
      title: t.prefix,
      phone: 'first',
      show: ({ prefix }) =>
        prefix === '' ? <span className="dim">{t.others}</span> : <span className="mono">{prefix}</span>,
    },
    {
      id: 'connectors',
      title: t.connectors,
      show: ({ connectors }) => <span className="mono wrap">{connectors.join(' → ')}</span>,
    },
    {
      id: 'actions',
      title: t.actions,
      phone: 'second',
      show: (route) =>
        mayWrite && (
          <span className="row">
            <Button title={t.changeRouteOf(route.prefix || t.others)} onClick={() => onAsk({ what: 'set', route })}>
              {t.changeRoute}
            </Button>
            <IconButton
              icon="trash"
              label={t.deleteRouteOf(route.prefix || t.others)}
              onClick={() => onAsk({ what: 'delete', route })}
            />
          </span>
        ),
    },
  ];
}
