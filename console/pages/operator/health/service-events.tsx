/** What happened to the service, and where it is posted to. */
import { Link } from 'wouter';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Pager } from '../../../components/pager.tsx';
import { Select } from '../../../components/select.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { useRead } from '../../../queries.ts';
import { accountPath, type HealthQuery, healthPath, SEVERITIES } from '../../../routes/operators.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { eventsText } from '../../../text/events.ts';
import { healthText } from '../../../text/health.ts';
import { type EventRow, useEventColumns } from '../../events/event-columns.tsx';
import { WebhookCard } from '../../events/webhook-card.tsx';

const PAGE_SIZE = 50;

interface ServiceEventsProps {
  readonly query: HealthQuery;
  readonly onChange: (query: HealthQuery) => void;
}

export function ServiceEvents({ query, onChange }: ServiceEventsProps) {
  const t = useText(eventsText);
  const { eventsHelp } = useText(healthText);
  const columns = useEventColumns(useOwner());
  const { severity, page } = query;
  const request = { page, page_size: PAGE_SIZE, ...(severity !== '' && { severity }) };
  const load = useRead('eventOperator.list', request, { keepsPrevious: true });
  const mayWrite = useSession().access.includes('write');
  return (
    <>
      {mayWrite && <WebhookCard of="eventOperator" />}
      <p className="help">{eventsHelp}</p>
      <search className="row">
        <Select
          label={t.severity}
          choices={SEVERITIES.map((value) => ({ value, label: t.severities[value] }))}
          value={severity}
          onChange={(next) => onChange({ ...query, severity: next, page: 1 })}
        />
      </search>
      <Card title={t.title} isFlush>
        <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="events" title={t.none} />}>
          {({ list, total }) => (
            <>
              <Table label={t.title} columns={columns} rows={list} keyOf={({ event_id }) => event_id} />
              <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={(n) => healthPath({ ...query, page: n })} />
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function useOwner(): Column<EventRow> {
  const t = useText(healthText);
  return {
    id: 'account',
    title: t.account,
    phone: 'hidden',
    show: ({ account_id }) =>
      account_id === '' ? (
        <span className="dim">{t.ofOperator}</span>
      ) : (
        <Link href={accountPath(account_id)}>{account_id}</Link>
      ),
  };
}
