/** What happened to the service, and where it is posted to. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { EVENT_OPERATIONS } from '#contract/operators/event-operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { CopyBox } from '../../../components/copy.tsx';
import { Facts } from '../../../components/detail.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Pager } from '../../../components/pager.tsx';
import { Select } from '../../../components/select.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import type { Tone } from '../../../components/tone.ts';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useRead } from '../../../queries.ts';
import { accountPath, type HealthQuery, healthPath, SEVERITIES } from '../../../routes/operators.ts';
import { useServices, useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { healthText, WEBHOOK_WORDS } from '../../../text/health.ts';

type ServiceEvent = DataOf<'eventOperator.list'>['list'][number];

const PAGE_SIZE = 50;
const TONES: Readonly<Record<ServiceEvent['severity'], Tone>> = { info: 'idle', warning: 'warn', critical: 'bad' };

interface ServiceEventsProps {
  readonly query: HealthQuery;
  readonly onChange: (query: HealthQuery) => void;
}

export function ServiceEvents({ query, onChange }: ServiceEventsProps) {
  const t = useText(healthText);
  const columns = useColumns();
  const { severity, page } = query;
  const request = { page, page_size: PAGE_SIZE, ...(severity !== '' && { severity }) };
  const load = useRead('eventOperator.list', request, { keepsPrevious: true });
  const mayWrite = useSession().access.includes('write');
  return (
    <>
      {mayWrite && <Webhook />}
      <p className="help">{t.eventsHelp}</p>
      <search className="row">
        <Select
          label={t.severity}
          choices={SEVERITIES.map((value) => ({ value, label: t.severities[value] }))}
          value={severity}
          onChange={(next) => onChange({ ...query, severity: next, page: 1 })}
        />
      </search>
      <Card title={t.views.events} isFlush>
        <Loaded
          load={load}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="health" title={t.noEvents} />}
        >
          {({ list, total }) => (
            <>
              <Table label={t.views.events} columns={columns} rows={list} keyOf={({ event_id }) => event_id} />
              <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={(n) => healthPath({ ...query, page: n })} />
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function useColumns(): readonly Column<ServiceEvent>[] {
  const t = useText(healthText);
  return [
    { id: 'event', title: t.event, phone: 'first', show: ({ text }) => <span className="wrap">{text}</span> },
    {
      id: 'severity',
      title: t.severity,
      phone: 'second',
      show: ({ severity }) => <Badge tone={TONES[severity]}>{t.severities[severity]}</Badge>,
    },
    {
      id: 'account',
      title: t.account,
      phone: 'hidden',
      show: ({ account_id }) =>
        account_id === '' ? (
          <span className="dim">{t.ofOperator}</span>
        ) : (
          <Link href={accountPath(account_id)}>{account_id}</Link>
        ),
    },
    { id: 'when', title: t.when, show: ({ time }) => <Time at={time * 1000} isRelative /> },
  ];
}

function Webhook() {
  const t = useText(healthText);
  const { toasts } = useServices();
  const [isOpen, setOpen] = useState(false);
  const load = useRead('eventOperator.getWebhook', {});
  return (
    <Card title={t.webhook} actions={<Button onClick={() => setOpen(true)}>{t.setWebhook}</Button>}>
      <Loaded load={load} lines={2}>
        {({ url, secret }) => (
          <>
            <p className="help">{url === '' ? t.webhookNone : t.webhookHelp}</p>
            {url !== '' && (
              <Facts
                facts={[
                  { title: t.url, value: <span className="mono wrap">{url}</span> },
                  { title: t.secret, value: secret === '' ? t.noSecret : <CopyBox text={secret} what={t.secret} /> },
                ]}
              />
            )}
            {isOpen && (
              <FormDialog
                title={t.setWebhook}
                action={t.saveWebhook}
                name="eventOperator.setWebhook"
                contract={EVENT_OPERATIONS['eventOperator.setWebhook'].request}
                words={WEBHOOK_WORDS}
                initial={{ url, rotate: '0' }}
                choices={{ rotate: ['0', '1'] }}
                onDone={() => {
                  toasts.show({ about: 'events', title: t.webhookSaved });
                  setOpen(false);
                }}
                onClose={() => setOpen(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}
