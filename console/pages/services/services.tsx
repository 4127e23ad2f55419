/** The account's SMS services. An account has few. */
import { Link, useLocation } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useRead } from '../../queries.ts';
import { servicePath } from '../../routes/messaging.ts';
import { useText } from '../../text/catalogue.ts';
import { servicesText } from '../../text/services.ts';
import { SERVICES } from '../messages/service-select.tsx';

type Service = DataOf<'sms.listApps'>['list'][number];

export function Services() {
  const t = useText(servicesText);
  const [, navigate] = useLocation();
  const load = useRead('sms.listApps', SERVICES);
  const columns = useColumns();
  return (
    <Page title={t.title}>
      <Card isFlush>
        <Loaded
          load={load}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="services" title={t.emptyTitle} text={t.emptyText} />}
        >
          {({ list }) => (
            <Table
              label={t.title}
              columns={columns}
              rows={list}
              keyOf={({ app_key }) => app_key}
              onOpen={({ app_key }) => navigate(servicePath(app_key))}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function useColumns(): readonly Column<Service>[] {
  const t = useText(servicesText);
  return [
    {
      id: 'name',
      title: t.name,
      phone: 'first',
      show: ({ app_key, name }) => <Link href={servicePath(app_key)}>{name}</Link>,
    },
    { id: 'state', title: t.state, phone: 'second', show: ({ status }) => <ServiceState status={status} /> },
    { id: 'key', title: t.key, show: ({ app_key }) => <span className="mono">{app_key}</span> },
    {
      id: 'webhook',
      title: t.webhook,
      phone: 'hidden',
      show: ({ has_webhook }) => (has_webhook === '1' ? t.webhooks.set : t.webhooks.none),
    },
    { id: 'created', title: t.created, phone: 'hidden', show: ({ created_at }) => <Time at={created_at} /> },
  ];
}

export function ServiceState({ status }: Pick<Service, 'status'>) {
  const t = useText(servicesText);
  return status === 1 ? <Badge tone="ok">{t.states.enabled}</Badge> : <Badge tone="idle">{t.states.disabled}</Badge>;
}
