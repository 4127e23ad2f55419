/** Statistics: a figure of all domains or of some, over a time, perhaps compared; everything that is chosen is in the address. */
import { useLocation, useSearch } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import {
  COMPARISONS,
  METRICS,
  readStatisticsQuery,
  type StatisticsQuery,
  statisticsPath,
} from '../../routes/statistics.ts';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import { useDomainNames } from '../domains/domain-select.tsx';
import { LiveCard } from '../overview/live-card.tsx';
import { TopCard } from '../overview/top-card.tsx';
import { TopDomains } from '../overview/top-domains.tsx';
import { BandwidthCard } from './bandwidth-card.tsx';
import { DomainPicker } from './domain-picker.tsx';
import { FigureCard } from './figure-card.tsx';
import { spanOf } from './range.ts';
import { RangePicker } from './range-picker.tsx';

export function Statistics() {
  const t = useText(statisticsText);
  const [, navigate] = useLocation();
  const query = readStatisticsQuery(useSearch());
  const set = (changed: Partial<StatisticsQuery>) => navigate(statisticsPath({ ...query, ...changed }));
  const span = spanOf(query.range, Date.now());
  const { domains } = query;
  return (
    <Page
      title={t.title}
      actions={<RangePicker range={query.range} span={span} onChange={(range) => set({ range })} />}
    >
      <Choices query={query} onChange={set} />
      <FigureCard query={query} span={span} onZoom={(range) => set({ range })} />
      {domains.length < 2 && <LiveCard domainId={domains[0]} />}
      <BandwidthCard domains={domains} />
      {domains.length < 2 && <Tops domainId={domains[0]} span={span} />}
    </Page>
  );
}

interface TopsProps {
  /** Absent: all. */
  readonly domainId: string | undefined;
  readonly span: ReturnType<typeof spanOf>;
}

/** Lists of what was requested most are of one domain, or of all. */
function Tops({ domainId, span: range }: TopsProps) {
  const t = useText(statisticsText);
  const names = useDomainNames(domainId === undefined ? [] : [domainId]);
  const domain = domainId === undefined ? '' : names.get(domainId);
  if (domain === undefined) return null;
  return (
    <div className="columns">
      <TopCard kind="url" title={t.topUrls} {...{ range, domain }} />
      <TopCard kind="status" title={t.topStatuses} {...{ range, domain }} />
      <TopCard kind="referer" title={t.topReferers} {...{ range, domain }} />
      <TopCard kind="client" title={t.topClients} {...{ range, domain }} />
      {domain === '' && <TopDomains range={range} />}
    </div>
  );
}

interface ChoicesProps {
  readonly query: StatisticsQuery;
  readonly onChange: (changed: Partial<StatisticsQuery>) => void;
}

function Choices({ query: { domains, isSplit, metric, range, compare }, onChange }: ChoicesProps) {
  const t = useText(statisticsText);
  const splits = [
    { value: '', label: t.together },
    { value: '1', label: t.each },
  ] as const;
  return (
    <search className="row">
      <DomainPicker
        domains={domains}
        // Who chooses a second domain wants to compare them.
        onChange={(chosen) => onChange({ domains: chosen, isSplit: domains.length < 2 || isSplit })}
      />
      {domains.length > 1 && (
        <Select
          label={t.split}
          choices={splits}
          value={isSplit ? '1' : ''}
          onChange={(value) => onChange({ isSplit: value === '1' })}
        />
      )}
      <Select
        label={t.metric}
        choices={METRICS.map((value) => ({ value, label: t.metrics[value] }))}
        value={metric}
        onChange={(value) => onChange({ metric: value })}
      />
      <Select
        label={t.compare}
        choices={COMPARISONS.map((value) => ({ value, label: t.comparisons[value] }))}
        value={compare}
        onChange={(value) => onChange({ compare: value })}
      />
      {typeof range !== 'string' && (
        <Button kind="plain" icon="undo" onClick={() => onChange({ range: '24h' })}>
          {t.zoomOut}
        </Button>
      )}
    </search>
  );
}
