/** The record that points the name here, and what each resolver says of it when somebody asks. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Notice } from '../../components/notice.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { problemOf, useAsk } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { DnsRecord } from '../domains/point-here.tsx';
import { DNS_TONES } from './check-card.tsx';
import type { DomainData } from './domain.tsx';

type Dns = DataOf<'domain.check'>['dns'];

export function DnsTab({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const check = useAsk('domain.check');
  const { domain_id } = domain;
  return (
    <>
      <Card title={t.record}>
        <div className="stack">
          <p className="help">{t.recordHelp}</p>
          <DnsRecord domain={domain} />
        </div>
      </Card>
      <Card
        title={t.resolvers}
        isFlush
        actions={
          <Button isBusy={check.isPending} onClick={() => check.mutate({ domain_id })}>
            {t.checkNow}
          </Button>
        }
      >
        {check.error && (
          <div className="pad">
            <Notice tone="bad">{problemOf(check.error).text}</Notice>
          </div>
        )}
        {check.data ? <Found dns={check.data.dns} /> : <p className="help pad">{t.resolversHelp}</p>}
      </Card>
    </>
  );
}

function Found({ dns: { found, resolvers } }: { readonly dns: Dns }) {
  const t = useText(domainViewsText);
  const columns: readonly Column<Dns['resolvers'][number]>[] = [
    {
      id: 'resolver',
      title: t.resolver,
      phone: 'first',
      show: ({ resolver }) => <span className="mono">{resolver}</span>,
    },
    {
      id: 'state',
      title: t.dns,
      phone: 'second',
      show: ({ state }) => <Badge tone={DNS_TONES[state]}>{t.dnsStates[state]}</Badge>,
    },
  ];
  return (
    <>
      <Table label={t.resolvers} columns={columns} rows={resolvers} keyOf={({ resolver }) => resolver} />
      {found.length > 0 && (
        <p className="help pad">
          {t.leadsTo} <span className="mono wrap">{found.join(', ')}</span>
        </p>
      )}
    </>
  );
}
