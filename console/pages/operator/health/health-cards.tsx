/** The parts of this machine, and the figures that tell how they are. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Card } from '../../../components/card.tsx';
import { type Fact, Facts } from '../../../components/detail.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import type { Tone } from '../../../components/tone.ts';
import { formatBytes, formatNumber } from '../../../lib/format.ts';
import { useRead } from '../../../queries.ts';
import { usePreference } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { healthText } from '../../../text/health.ts';

type HealthData = DataOf<'operator.getHealth'>;

/** Answers are kept that long. */
const EVERY_MS = 5000;
const DAY_SECONDS = 86_400;

export function HealthCards() {
  const t = useText(healthText);
  const load = useRead('operator.getHealth', {}, { everyMs: EVERY_MS });
  return (
    <Loaded load={load} lines={8}>
      {(health) => (
        <>
          <p className="help">{t.help}</p>
          {health.at === 0 && <Notice tone="warn">{t.unknown}</Notice>}
          <Parts parts={health.parts} />
          <Cards health={health} />
          {health.controls.length > 0 && <Controls controls={health.controls} />}
        </>
      )}
    </Loaded>
  );
}

function Parts({ parts }: Pick<HealthData, 'parts'>) {
  const t = useText(healthText);
  const columns: readonly Column<HealthData['parts'][number]>[] = [
    { id: 'part', title: t.part, phone: 'first', show: ({ part }) => <span className="mono">{part}</span> },
    {
      id: 'state',
      title: t.state,
      phone: 'second',
      show: ({ up }) => <Badge tone={up ? 'ok' : 'bad'}>{up ? t.up : t.down}</Badge>,
    },
    {
      id: 'restarts',
      title: t.restarts,
      isNumber: true,
      show: ({ restarts }) => <Alarming count={restarts} tone="warn" />,
    },
  ];
  return (
    <Card title={t.parts} isFlush>
      <Table label={t.parts} columns={columns} rows={parts} keyOf={({ part }) => part} />
    </Card>
  );
}

function Cards({ health }: { readonly health: HealthData }) {
  const t = useText(healthText);
  const locale = usePreference('locale');
  const { feed, logs, database, certificates, sms } = health;
  const count = (value: number | undefined) => (value === undefined ? undefined : formatNumber(value, locale));
  const alarm = (value: number | undefined, tone: Tone = 'bad') =>
    value === undefined ? undefined : <Alarming count={value} tone={tone} />;
  return (
    <div className="columns">
      <FactCard
        title={t.feed}
        facts={[
          { title: t.head, value: feed.head_revision },
          { title: t.applied, value: feed.applied_revision },
          { title: t.connected, value: count(feed.connected_edges) },
          { title: t.rejected, value: alarm(feed.rejected) },
        ]}
      />
      <FactCard
        title={t.certificates}
        facts={[
          { title: t.expired, value: alarm(certificates.expired) },
          { title: t.within7, value: alarm(certificates.within_7_days, 'warn') },
          { title: t.within14, value: count(certificates.within_14_days) },
          { title: t.within30, value: count(certificates.within_30_days) },
          { title: t.first, value: firstEnds(certificates, t) },
        ]}
      />
      <FactCard
        title={t.logs}
        facts={[
          { title: t.waiting, value: count(logs.waiting_files) },
          { title: t.shipped, value: count(logs.shipped_files) },
          { title: t.lost, value: alarm(logs.lost_lines) },
        ]}
      />
      <FactCard title={t.database} facts={databaseFacts(database, t, (bytes) => formatBytes(bytes, locale))} />
      {sms.length > 0 && <FactCard title={t.sms} facts={smsFacts(sms, t, (value) => formatNumber(value, locale))} />}
    </div>
  );
}

function FactCard({ title, facts }: { readonly title: string; readonly facts: readonly Fact[] }) {
  return (
    <Card title={title}>
      <Facts facts={facts} />
    </Card>
  );
}

type Texts = (typeof healthText)['en'];

function databaseFacts(
  { engine, bytes, clock_ahead_seconds, is_synchronous }: HealthData['database'],
  t: Texts,
  format: (bytes: number) => string,
): readonly Fact[] {
  return [
    { title: t.engine, value: t.engines[engine] },
    { title: t.size, value: bytes === undefined ? undefined : format(bytes) },
    {
      title: t.clock,
      value: clock_ahead_seconds === undefined ? undefined : `${clock_ahead_seconds.toFixed(1)} s`,
    },
    { title: t.standby, value: is_synchronous === undefined ? undefined : is_synchronous ? t.yes : t.no },
  ];
}

function smsFacts(sms: HealthData['sms'], t: Texts, format: (value: number) => string): readonly Fact[] {
  const names: Readonly<Record<string, string>> = t.smsStates;
  return sms.map(({ state, parts, oldest_seconds }) => ({
    title: names[state] ?? state,
    value: parts === 0 ? t.noParts : t.waitingParts(format(parts), `${Math.round(oldest_seconds)} s`),
  }));
}

/** Absent without certificates: the service says 0 then. */
function firstEnds({ first_ends_in_seconds: seconds }: HealthData['certificates'], t: Texts): string | undefined {
  return seconds === undefined || seconds === 0 ? undefined : t.days(Math.floor(seconds / DAY_SECONDS));
}

/** What should be 0 is marked where it is not. */
function Alarming({ count, tone }: { readonly count: number; readonly tone: Tone }) {
  const locale = usePreference('locale');
  const text = formatNumber(count, locale);
  return count === 0 ? text : <Badge tone={tone}>{text}</Badge>;
}

function Controls({ controls }: Pick<HealthData, 'controls'>) {
  const t = useText(healthText);
  const columns: readonly Column<HealthData['controls'][number]>[] = [
    { id: 'control', title: t.control, phone: 'first', show: ({ control }) => <span className="mono">{control}</span> },
    { id: 'build', title: t.build, show: ({ build }) => build },
    { id: 'seen', title: t.seen, phone: 'second', show: ({ seen_at }) => <Time at={seen_at} isRelative /> },
  ];
  return (
    <Card title={t.controls} isFlush>
      <Table label={t.controls} columns={columns} rows={controls} keyOf={({ control }) => control} />
    </Card>
  );
}
