/** A domain at a glance: its traffic, what it is, and whether it works. */
import { Card } from '../../components/card.tsx';
import { Facts } from '../../components/detail.tsx';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { RequestChart } from '../overview/request-chart.tsx';
import { lastSeconds } from '../overview/time-range.ts';
import { TrafficTiles } from '../overview/traffic-tiles.tsx';
import { CheckCard } from './check-card.tsx';
import type { DomainData } from './domain.tsx';

const DAY_SECONDS = 86_400;
const EVERY_MS = 30_000;

export function DomainOverview({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const range = lastSeconds(DAY_SECONDS, Date.now());
  const request = { domain: domain.domain_name, interval: 'hour', starttime: range.from, endtime: range.to } as const;
  const traffic = useRead('stat.traffic', request, { everyMs: EVERY_MS, keepsPrevious: true });
  const requests = useRead('stat.requests', request, { everyMs: EVERY_MS, keepsPrevious: true });
  return (
    <>
      <TrafficTiles traffic={traffic} requests={requests} />
      <RequestChart load={requests} range={range} />
      <div className="columns">
        <Card title={t.facts}>
          <DomainFacts domain={domain} />
        </Card>
        <CheckCard domain={domain} />
      </div>
    </>
  );
}

function DomainFacts({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  return (
    <Facts
      facts={[
        { title: t.type, value: domain.cdn_type },
        { title: t.alias, value: <span className="mono">{domain.cname}</span> },
        {
          title: t.origin,
          value: <span className="mono">{[...domain.origin, ...domain.backup].join(', ') || '—'}</span>,
        },
        { title: t.added, value: domain.create_time },
        { title: t.revision, value: domain.revision },
        { title: t.remark, value: domain.remark === '' ? undefined : domain.remark },
      ]}
    />
  );
}
