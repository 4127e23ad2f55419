/** The account at a glance: traffic, what occurs most, what needs attention. A new account sees how to begin. */
import { useLocation, useSearch } from 'wouter';
import { Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';
import { overviewPath, RANGES, readRangeQuery } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import { Attention } from './attention.tsx';
import { FirstSteps } from './first-steps.tsx';
import { RequestChart } from './request-chart.tsx';
import { before, grainOf, lastSeconds, secondsOf, type TimeRange } from './time-range.ts';
import { TopCard } from './top-card.tsx';
import { TrafficTiles } from './traffic-tiles.tsx';

const EVERY_MS = 30_000;

export function Overview() {
  const t = useText(overviewText);
  const [, navigate] = useLocation();
  const query = readRangeQuery(useSearch());
  const range = lastSeconds(secondsOf(query.range), Date.now());
  const domains = useRead('domain.listBrief', { page_size: 100, sort: 'traffic' });
  const choices = RANGES.map((value) => ({ value, label: t.ranges[value] }));
  return (
    <Page
      title={t.title}
      actions={
        <Select
          label={t.range}
          choices={choices}
          value={query.range}
          onChange={(chosen) => navigate(overviewPath({ range: chosen }), { replace: true })}
        />
      }
    >
      <Loaded load={domains} lines={6}>
        {({ total, list }) => (
          <>
            {total === 0 && <FirstSteps />}
            <Traffic range={range} />
            <div className="columns">
              <TopCard kind="url" title={t.topUrls} range={range} />
              <TopCard kind="referer" title={t.topReferers} range={range} />
              <Attention domains={list} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Traffic({ range }: { readonly range: TimeRange }) {
  const options = { everyMs: EVERY_MS, keepsPrevious: true };
  const interval = grainOf(range);
  const request = { interval, starttime: range.from, endtime: range.to };
  const earlier = before(range);
  const former = { interval, starttime: earlier.from, endtime: earlier.to };
  const traffic = useRead('stat.traffic', request, options);
  const requests = useRead('stat.requests', request, options);
  const formerTraffic = useRead('stat.traffic', former, { keepsPrevious: true });
  const formerRequests = useRead('stat.requests', former, { keepsPrevious: true });
  const compared =
    formerTraffic.kind === 'ready' && formerRequests.kind === 'ready'
      ? { traffic: formerTraffic.data.total, requests: formerRequests.data.total }
      : undefined;
  return (
    <>
      <TrafficTiles {...{ traffic, requests }} before={compared} />
      <RequestChart load={requests} range={range} />
    </>
  );
}
