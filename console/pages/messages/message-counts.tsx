/** How many messages were sent by day, and what became of them. */
import { useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { LazyChart } from '../../components/lazy-chart.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { Time } from '../../components/time.tsx';
import { writeCsv } from '../../lib/csv.ts';
import { downloadText } from '../../lib/download.ts';
import { formatNumber, formatRatio, formatShort } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { COUNT_PERIODS, messageCountsPath, readMessageCountsQuery } from '../../routes/messaging.ts';
import { usePreference, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { messageCountsText } from '../../text/message-counts.ts';
import { messagesText } from '../../text/messages.ts';
import { COUNT_GROUPS, type CountGroup, countByDay, type DayCount, daysUntil, GROUP_COLORS } from './counts.ts';
import { MessagesTabs } from './messages-tabs.tsx';
import { ServiceSelect } from './service-select.tsx';
import { useMoney } from './use-money.ts';

const DAYS = { '7d': 7, '30d': 30, '90d': 90 } as const;

export function MessageCounts() {
  const t = useText(messageCountsText);
  const messages = useText(messagesText);
  const [, navigate] = useLocation();
  const query = readMessageCountsQuery(useSearch());
  // Days are those of the service, whatever times are shown in.
  const { time_zone: zone } = useSession();
  const { days, from } = daysUntil(Date.now(), DAYS[query.period], zone);
  const request = { by: ['day' as const, 'status' as const], from, ...(query.app !== '' && { app_key: query.app }) };
  const load = useRead('sms.statistics', request, { keepsPrevious: true });
  return (
    <Page title={messages.title}>
      <MessagesTabs open="counts" />
      <search className="row">
        <Select
          label={t.period}
          choices={COUNT_PERIODS.map((value) => ({ value, label: t.periods[value] }))}
          value={query.period}
          onChange={(period) => navigate(messageCountsPath({ ...query, period }), { replace: true })}
        />
        <ServiceSelect
          value={query.app}
          onChange={(app) => navigate(messageCountsPath({ ...query, app }), { replace: true })}
        />
      </search>
      <Loaded
        load={load}
        lines={8}
        isEmpty={({ list, is_complete }) => list.length === 0 && is_complete}
        empty={
          <Card>
            <Empty icon="statistics" title={t.none} text={t.noneHelp} />
          </Card>
        }
      >
        {({ list, from: countedFrom, is_complete }) => (
          <>
            {!is_complete && (
              <Notice tone="warn">
                {t.incomplete} <Time at={countedFrom} />
              </Notice>
            )}
            <Counted counts={countByDay(list, days, zone)} zone={zone} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface CountedProps {
  readonly counts: readonly DayCount[];
  readonly zone: string;
}

function Counted({ counts, zone }: CountedProps) {
  const t = useText(messageCountsText);
  const locale = usePreference('locale');
  const money = useMoney();
  const total = (read: (count: DayCount) => number) => counts.reduce((sum, count) => sum + read(count), 0);
  const totals = Object.fromEntries(
    COUNT_GROUPS.map((group) => [group, total(({ messages }) => messages[group])]),
  ) as Record<CountGroup, number>;
  const groups = COUNT_GROUPS.filter((group) => totals[group] > 0);
  const all = groups.reduce((sum, group) => sum + totals[group], 0);
  return (
    <>
      <Tiles
        tiles={[
          { title: t.messages, value: formatShort(all, locale) },
          { title: t.deliveredShare, value: formatRatio(all === 0 ? 0 : totals.delivered / all, locale) },
          {
            title: t.parts,
            value: formatShort(
              total(({ parts }) => parts),
              locale,
            ),
          },
          { title: t.price, value: money(total(({ price }) => price)) },
        ]}
      />
      <Card title={t.byDay} note={zone}>
        <CountChart {...{ counts, zone, groups, totals }} />
      </Card>
      <DayTable counts={counts} groups={groups} />
    </>
  );
}

interface CountChartProps extends CountedProps {
  readonly groups: readonly CountGroup[];
  readonly totals: Readonly<Record<CountGroup, number>>;
}

function CountChart({ counts, zone, groups, totals }: CountChartProps) {
  const t = useText(messageCountsText);
  const locale = usePreference('locale');
  const shown = JSON.stringify([counts, groups, totals]);
  // A chart is drawn anew when what it is given is another object.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shown` says whether it is
  const chart = useMemo(() => {
    const times = counts.map(({ time }) => time);
    const [first = 0, last = 0] = [times[0], times.at(-1)];
    return {
      times,
      range: [first, last + DAY_SECONDS] as const,
      format: (value: number) => formatShort(value, locale),
      series: groups.map((group) => ({
        name: t.groups[group],
        color: GROUP_COLORS[group],
        values: counts.map(({ messages }) => messages[group]),
        total: formatNumber(totals[group], locale),
      })),
    };
  }, [shown, locale, t]);
  return <LazyChart label={t.byDay} {...chart} zone={zone} isStacked />;
}

const DAY_SECONDS = 86_400;

interface DayTableProps {
  readonly counts: readonly DayCount[];
  readonly groups: readonly CountGroup[];
}

function DayTable({ counts, groups }: DayTableProps) {
  const t = useText(messageCountsText);
  const locale = usePreference('locale');
  const money = useMoney();
  const columns: readonly Column<DayCount>[] = [
    { id: 'day', title: t.day, phone: 'first', show: ({ day }) => day },
    ...groups.map((group) => ({
      id: group,
      title: t.groups[group],
      isNumber: true,
      show: ({ messages }: DayCount) => formatNumber(messages[group], locale),
    })),
    { id: 'parts', title: t.parts, isNumber: true, phone: 'hidden', show: ({ parts }) => formatNumber(parts, locale) },
    { id: 'price', title: t.price, isNumber: true, phone: 'second', show: ({ price }) => money(price) },
  ];
  const download = () => {
    const head = ['day', ...groups, 'parts', 'price'];
    const rows = counts.map(({ day, messages, parts, price }) => [
      day,
      ...groups.map((group) => messages[group]),
      parts,
      price,
    ]);
    downloadText('message-statistics.csv', 'text/csv', writeCsv(head, rows));
  };
  return (
    <Card
      title={t.days}
      isFlush
      actions={
        <Button icon="download" onClick={download}>
          {t.csv}
        </Button>
      }
    >
      <Table label={t.days} columns={columns} rows={[...counts].reverse()} keyOf={({ day }) => day} />
    </Card>
  );
}
