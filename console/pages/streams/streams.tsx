/** The live streams of all the account's domains, and how to publish one. */
import { useLocation, useSearch } from 'wouter';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Select } from '../../components/select.tsx';
import { Table } from '../../components/table.tsx';
import { useRead } from '../../queries.ts';
import { readStreamsQuery, STREAM_STATES, type StreamsQuery, streamPath, streamsPath } from '../../routes/streams.ts';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import { NoDomain, useLiveDomains } from './live-domains.tsx';
import { PublishCard } from './publish-card.tsx';
import { EVERY_MS, nameOf, useStreamColumns } from './stream-columns.tsx';
import { StreamsTabs } from './streams-tabs.tsx';

const PAGE_SIZE = 50;

export function Streams() {
  const t = useText(streamsText);
  const [, navigate] = useLocation();
  const query = readStreamsQuery(useSearch());
  const { domain, status, page } = query;
  const live = useLiveDomains();
  const domains = live.kind === 'ready' ? live.data : undefined;
  const load = useRead('live.list', requestOf(query), { everyMs: EVERY_MS, keepsPrevious: true });
  const change = (next: Partial<StreamsQuery>) =>
    navigate(streamsPath({ ...query, page: 1, ...next }), { replace: true });
  const columns = useStreamColumns((row) =>
    streamPath({ domain: row.domain, app: row.app_name, stream: row.stream_name }),
  );
  const names = domains?.list.map(({ domain_name }) => domain_name) ?? [];
  const isFiltered = domain !== '' || status !== '';
  return (
    <Page
      title={t.title}
      actions={
        <>
          <Select
            label={t.domain}
            choices={[{ value: '', label: t.allDomains }, ...names.map((value) => ({ value, label: value }))]}
            value={domain}
            onChange={(value) => change({ domain: value })}
          />
          <Select
            label={t.status}
            choices={STREAM_STATES.map((value) => ({ value, label: t.statuses[value] }))}
            value={status}
            onChange={(value) => change({ status: value })}
          />
        </>
      }
    >
      <StreamsTabs open="streams" domain={domain} />
      <Card isFlush>
        <Loaded
          load={load}
          lines={5}
          isEmpty={({ total }) => total === 0}
          empty={
            <Empty
              icon="streams"
              title={isFiltered ? t.emptyAll : t.emptyTitle}
              {...(!isFiltered && { text: t.emptyText })}
            />
          }
        >
          {({ list, total }) => (
            <>
              <Table
                label={t.title}
                columns={columns}
                rows={list}
                keyOf={({ domain_id, ...row }) => `${domain_id}/${nameOf(row)}`}
                onOpen={(row) =>
                  navigate(streamPath({ domain: row.domain, app: row.app_name, stream: row.stream_name }))
                }
              />
              <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={(to) => streamsPath({ ...query, page: to })} />
            </>
          )}
        </Loaded>
      </Card>
      {names.length > 0 && <PublishCard title={t.howTo} domains={names} />}
      {domains?.total === 0 && <NoDomain />}
    </Page>
  );
}

function requestOf({ domain, status, page }: StreamsQuery) {
  return { page, page_size: PAGE_SIZE, ...(domain !== '' && { domain }), ...(status !== '' && { status }) };
}
