/** One edge: its state and why, what it runs and cannot apply, its own checks, its load, its events, what it has had. */
import { useParams, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Card } from '../../../components/card.tsx';
import { Facts } from '../../../components/detail.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Page } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Tiles } from '../../../components/tiles.tsx';
import { Time } from '../../../components/time.tsx';
import { formatBitRate, formatNumber, formatRatio, formatShort } from '../../../lib/format.ts';
import { useRead } from '../../../queries.ts';
import { edgePath, readPageQuery } from '../../../routes/operators.ts';
import { PATHS } from '../../../routes.ts';
import { usePreference } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';
import { EdgeActions } from './edge-actions.tsx';
import { EdgeEvents } from './edge-events.tsx';
import { EdgeState, labelsText, REPORT_MS } from './edge-state.tsx';
import { Exposure } from './exposure.tsx';

type EdgeData = DataOf<'edgeOperator.get'>;

const MEGA = 1_000_000;

export function Edge() {
  const t = useText(edgesText);
  const { id = '' } = useParams();
  const { page } = readPageQuery(useSearch());
  const load = useRead('edgeOperator.get', { edge_id: id }, { everyMs: REPORT_MS });
  const edge = load.kind === 'ready' ? load.data : undefined;
  return (
    <Page
      title={id}
      isName
      back={{ to: PATHS.edges, title: t.title }}
      note={
        edge && (
          <span role="status">
            <EdgeState status={edge.status} />
          </span>
        )
      }
      actions={edge && <EdgeActions edge={edge} />}
    >
      <Loaded load={load} lines={8}>
        {(data) => (
          <>
            {data.load && <LoadTiles load={data.load} />}
            <div className="columns">
              <Card title={t.facts}>
                {data.drains_itself === '1' && <Notice tone="info">{t.drainsItself}</Notice>}
                <EdgeFacts edge={data} />
              </Card>
              <Checks checks={data.health} />
            </div>
            <Rejections rejections={data.rejections} />
            <EdgeEvents edgeId={id} page={page} pathOf={(other) => edgePath(id, other)} />
            <Exposure edgeId={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function LoadTiles({ load }: { readonly load: NonNullable<EdgeData['load']> }) {
  const t = useText(edgesText);
  const locale = usePreference('locale');
  const { cpu, mbit, requests, under_way, cache_disk } = load;
  return (
    <Tiles
      tiles={[
        { title: t.requestRate, value: formatShort(requests, locale) },
        { title: t.traffic, value: formatBitRate(mbit * MEGA, locale) },
        { title: t.underWay, value: formatNumber(under_way, locale) },
        { title: t.cpu, value: formatRatio(cpu, locale) },
        { title: t.disk, value: formatRatio(cache_disk, locale) },
      ]}
    />
  );
}

function EdgeFacts({ edge }: { readonly edge: EdgeData }) {
  const t = useText(edgesText);
  const { reason, status_at, group, labels, revision, lag, build, features, clock_offset_ms, drain_at, seen_at } = edge;
  const at = (seconds: number) => (seconds === 0 ? undefined : <Time at={seconds * 1000} isRelative />);
  return (
    <Facts
      facts={[
        { title: t.reason, value: reason || undefined },
        { title: t.since, value: at(status_at) },
        { title: t.drainSince, value: at(drain_at) },
        { title: t.report, value: at(seen_at) ?? t.never },
        { title: t.group, value: group },
        { title: t.labels, value: labelsText(labels) || undefined },
        {
          title: t.revision,
          value: (
            <>
              {revision} <span className="dim">{lag > 0 && t.lag(lag)}</span>
            </>
          ),
        },
        { title: t.build, value: build || undefined },
        { title: t.features, value: features.join(', ') || undefined },
        { title: t.clock, value: clock_offset_ms === null ? undefined : clockText(clock_offset_ms, t) },
      ]}
    />
  );
}

function clockText(ms: number, t: (typeof edgesText)['en']): string {
  return ms < 0 ? t.clockBehind(-ms) : t.clockAhead(ms);
}

function Checks({ checks }: { readonly checks: EdgeData['health'] }) {
  const t = useText(edgesText);
  const columns: readonly Column<EdgeData['health'][number]>[] = [
    { id: 'check', title: t.check, phone: 'first', show: ({ check }) => t.checkNames[check] },
    {
      id: 'result',
      title: t.result,
      phone: 'second',
      show: ({ ok }) => <Badge tone={ok === '1' ? 'ok' : 'bad'}>{ok === '1' ? t.passes : t.fails}</Badge>,
    },
    { id: 'detail', title: t.detail, show: ({ detail }) => detail },
  ];
  return (
    <Card title={t.checks} isFlush>
      {checks.length === 0 ? (
        <Empty icon="health" title={t.noChecks} />
      ) : (
        <Table label={t.checks} columns={columns} rows={checks} keyOf={({ check }) => check} />
      )}
    </Card>
  );
}

function Rejections({ rejections }: { readonly rejections: EdgeData['rejections'] }) {
  const t = useText(edgesText);
  if (rejections.length === 0) return null;
  const columns: readonly Column<EdgeData['rejections'][number]>[] = [
    {
      id: 'resource',
      title: t.resource,
      phone: 'first',
      show: ({ kind, key }) => <span className="mono wrap">{`${kind} ${key}`}</span>,
    },
    { id: 'revision', title: t.revision, isNumber: true, show: ({ revision }) => revision },
    { id: 'error', title: t.reason, show: ({ error }) => <span className="wrap">{error}</span> },
  ];
  return (
    <Card title={t.rejections} isFlush>
      <Table label={t.rejections} columns={columns} rows={rejections} keyOf={({ kind, key }) => `${kind} ${key}`} />
    </Card>
  );
}
