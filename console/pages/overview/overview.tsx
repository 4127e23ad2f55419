/** The account at a glance: traffic, what occurs most, what needs attention. A new account sees how to begin. */
import { useLocation, useSearch } from 'wouter';
import { Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';
import { overviewPath, RANGES, readRangeQuery } from '../../routes/statistics.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import { Attention } from './attention.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LiveCard } from './live-card.tsx';
import { MessagesTile } from './messages-tile.tsx';
import { lastSeconds, secondsOf, type TimeRange } from './time-range.ts';
import { TopCard } from './top-card.tsx';
import { TopDomains } from './top-domains.tsx';
import { Traffic } from './traffic.tsx';

export function Overview() {
  const t = useText(overviewText);
  const [, navigate] = useLocation();
  const query = readRangeQuery(useSearch());
  const range = lastSeconds(secondsOf(query.range), Date.now());
  const domains = useRead('domain.listBrief', { page_size: 1 });
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
        {({ total }) => (
          <>
            {total === 0 && <FirstSteps />}
            <Attention />
            <Figures range={range} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Figures({ range }: { readonly range: TimeRange }) {
  const t = useText(overviewText);
  const hasMessages = useSession().scopes.includes('sms');
  return (
    <>
      <Traffic range={range} />
      {hasMessages && <MessagesTile />}
      <LiveCard />
      <div className="columns">
        <TopCard kind="url" title={t.topUrls} range={range} />
        <TopDomains range={range} />
        <TopCard kind="referer" title={t.topReferers} range={range} />
      </div>
    </>
  );
}
