/** What happened to the account that somebody may have to act upon, and where it is posted to. */
import { Link, useLocation, useSearch } from 'wouter';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Select } from '../../components/select.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useRead } from '../../queries.ts';
import { certificatesPath } from '../../routes/delivery.ts';
import { domainPath } from '../../routes/domains.ts';
import { ABOUTS, type EventsQuery, eventsPath, readEventsQuery } from '../../routes/events.ts';
import { SEVERITIES } from '../../routes/operators.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { eventsText } from '../../text/events.ts';
import { type EventRow, useEventColumns } from './event-columns.tsx';
import { WebhookCard } from './webhook-card.tsx';

const PAGE_SIZE = 50;

const KINDS = {
  origins: ['origin.down', 'origin.up'],
  certificates: ['certificate.expiring', 'certificate.expired', 'certificate.failing', 'certificate.recovered'],
  limits: ['quota.near', 'bandwidth.over', 'bandwidth.within'],
} as const satisfies Readonly<Record<Exclude<EventsQuery['about'], ''>, readonly EventRow['kind'][]>>;

export function Events() {
  const t = useText(eventsText);
  const [, navigate] = useLocation();
  const query = readEventsQuery(useSearch());
  const { about, severity, page } = query;
  const mayWrite = useSession().access.includes('write');
  const columns = useEventColumns(useTarget());
  const kinds = about === '' ? {} : { kinds: [...KINDS[about]] };
  const request = { ...kinds, ...(severity !== '' && { severity }), page, page_size: PAGE_SIZE };
  const load = useRead('event.list', request, { keepsPrevious: true });
  const change = (next: Partial<EventsQuery>) =>
    navigate(eventsPath({ ...query, page: 1, ...next }), { replace: true });
  return (
    <Page title={t.title}>
      {mayWrite && <WebhookCard of="event" />}
      <p className="help">{t.help}</p>
      <search className="row">
        <Select
          label={t.about}
          choices={ABOUTS.map((value) => ({ value, label: t.abouts[value] }))}
          value={about}
          onChange={(value) => change({ about: value })}
        />
        <Select
          label={t.severity}
          choices={SEVERITIES.map((value) => ({ value, label: t.severities[value] }))}
          value={severity}
          onChange={(value) => change({ severity: value })}
        />
      </search>
      <Card isFlush>
        <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="events" title={t.none} />}>
          {({ list, total }) => (
            <>
              <Table label={t.title} columns={columns} rows={list} keyOf={({ event_id }) => event_id} />
              <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={(n) => eventsPath({ ...query, page: n })} />
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function useTarget(): Column<EventRow> {
  const t = useText(eventsText);
  return {
    id: 'target',
    title: t.about,
    phone: 'hidden',
    show: ({ target }) => {
      const path = pathOf(target);
      return path === undefined ? target.name : <Link href={path}>{target.name || target.id}</Link>;
    },
  };
}

function pathOf({ kind, id }: EventRow['target']): string | undefined {
  if (kind === 'domain') return domainPath(id);
  return kind === 'certificate' ? certificatesPath({ ssl_key: id }) : undefined;
}
