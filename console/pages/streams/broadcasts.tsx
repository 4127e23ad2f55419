/** What a domain's streams have broadcast, and how many watched. */
import { useSearch } from 'wouter';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Pager } from '../../components/pager.tsx';
import { useRead } from '../../queries.ts';
import { type BroadcastsQuery, broadcastsPath, readBroadcastsQuery } from '../../routes/streams.ts';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import { BroadcastTable } from './broadcast-table.tsx';
import { LiveDomainPage } from './live-domains.tsx';
import { BROADCAST_DAYS, keptSince } from './stream-times.ts';
import { ViewersCard } from './viewers-card.tsx';

const EVERY_MS = 30_000;
const PAGE_SIZE = 50;

export function Broadcasts() {
  const query = readBroadcastsQuery(useSearch());
  const { domain: asked, range } = query;
  return (
    <LiveDomainPage open="broadcasts" asked={asked} pathOf={(domain) => broadcastsPath({ domain, range })}>
      {(domain) => <OfDomain key={domain} domain={domain} query={query} />}
    </LiveDomainPage>
  );
}

function OfDomain({ domain, query }: { readonly domain: string; readonly query: BroadcastsQuery }) {
  const t = useText(liveHistoryText);
  const { page, range } = query;
  const request = { domain, starttime: keptSince(BROADCAST_DAYS, Date.now()), page, page_size: PAGE_SIZE };
  const load = useRead('live.history', request, { everyMs: EVERY_MS, keepsPrevious: true });
  return (
    <>
      <ViewersCard of={{ domain }} range={range} pathOf={(next) => broadcastsPath({ ...query, range: next })} />
      <p className="help">{t.broadcastsHelp}</p>
      <Card isFlush>
        <Loaded
          load={load}
          lines={5}
          isEmpty={({ total }) => total === 0}
          empty={<Empty icon="streams" title={t.noBroadcast} />}
        >
          {({ list, total }) => (
            <>
              <BroadcastTable rows={list} domain={domain} />
              <Pager
                {...{ page, total }}
                pageSize={PAGE_SIZE}
                pathOf={(to) => broadcastsPath({ ...query, page: to })}
              />
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}
