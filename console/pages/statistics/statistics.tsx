/** Statistics: one figure of one domain or of all, over a time, perhaps compared; everything that is chosen is in the address. */
import { useLocation, useSearch } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { COMPARISONS, METRICS, readStatisticsQuery, type StatisticsQuery, statisticsPath } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import { DomainSelect } from '../domains/domain-select.tsx';
import { TopCard } from '../overview/top-card.tsx';
import { FigureCard } from './figure-card.tsx';
import { spanOf } from './range.ts';
import { RangePicker } from './range-picker.tsx';

export function Statistics() {
  const t = useText(statisticsText);
  const [, navigate] = useLocation();
  const query = readStatisticsQuery(useSearch());
  const set = (changed: Partial<StatisticsQuery>) => navigate(statisticsPath({ ...query, ...changed }));
  const span = spanOf(query.range, Date.now());
  const about = { range: span, domain: query.domain };
  return (
    <Page
      title={t.title}
      actions={<RangePicker range={query.range} span={span} onChange={(range) => set({ range })} />}
    >
      <Choices query={query} onChange={set} />
      <FigureCard query={query} span={span} onZoom={(range) => set({ range })} />
      <div className="columns">
        <TopCard kind="url" title={t.topUrls} {...about} />
        <TopCard kind="referer" title={t.topReferers} {...about} />
        <TopCard kind="client" title={t.topClients} {...about} />
      </div>
    </Page>
  );
}

interface ChoicesProps {
  readonly query: StatisticsQuery;
  readonly onChange: (changed: Partial<StatisticsQuery>) => void;
}

function Choices({ query: { domain, metric, range, compare, other }, onChange }: ChoicesProps) {
  const t = useText(statisticsText);
  return (
    <search className="row">
      <DomainSelect
        label={t.domain}
        none={t.allDomains}
        value={domain}
        onChoose={(chosen) => onChange({ domain: chosen?.name ?? '' })}
      />
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
      {compare === 'domain' && (
        <DomainSelect
          label={t.other}
          none={t.allDomains}
          value={other}
          onChoose={(chosen) => onChange({ other: chosen?.name ?? '' })}
        />
      )}
      {typeof range !== 'string' && (
        <Button kind="plain" icon="undo" onClick={() => onChange({ range: '24h' })}>
          {t.zoomOut}
        </Button>
      )}
    </search>
  );
}
