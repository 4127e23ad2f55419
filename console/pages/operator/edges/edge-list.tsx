/** The edges, narrowed by group and state: what each runs, how busy it is, when it was last heard of. */
import { Link, useLocation } from 'wouter';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Pager } from '../../../components/pager.tsx';
import { Select } from '../../../components/select.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { formatBitRate, formatNumber, formatShort } from '../../../lib/format.ts';
import { useRead } from '../../../queries.ts';
import { EDGE_STATUSES, type EdgesQuery, edgePath, edgesPath } from '../../../routes/operators.ts';
import { usePreference } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';
import { EdgeActions } from './edge-actions.tsx';
import { type EdgeRow, EdgeState, labelsText, REPORT_MS } from './edge-state.tsx';

const PAGE_SIZE = 50;
const MEGA = 1_000_000;

interface EdgeListProps {
  readonly query: EdgesQuery;
  readonly onChange: (query: EdgesQuery) => void;
}

export function EdgeList({ query, onChange }: EdgeListProps) {
  const t = useText(edgesText);
  const [, navigate] = useLocation();
  const columns = useColumns();
  const { group, status, page } = query;
  const request = { group, page, page_size: PAGE_SIZE, ...(status !== '' && { status }) };
  const load = useRead('edgeOperator.list', request, { everyMs: REPORT_MS, keepsPrevious: true });
  const isNarrowed = group !== '' || status !== '';
  return (
    <>
      <search className="row">
        <GroupSelect value={group} onChange={(next) => onChange({ ...query, group: next, page: 1 })} />
        <Select
          label={t.status}
          choices={EDGE_STATUSES.map((value) => ({ value, label: t.statuses[value] }))}
          value={status}
          onChange={(next) => onChange({ ...query, status: next, page: 1 })}
        />
      </search>
      <Card isFlush>
        <Loaded
          load={load}
          lines={6}
          isEmpty={({ list }) => list.length === 0}
          empty={
            isNarrowed ? (
              <Empty icon="search" title={t.none} action={<Link href={edgesPath()}>{t.anyStatus}</Link>} />
            ) : (
              <Empty icon="edges" title={t.noEdges} text={t.noEdgesHelp} />
            )
          }
        >
          {({ list, total }) => (
            <>
              <Table
                label={t.title}
                columns={columns}
                rows={list}
                keyOf={({ edge_id }) => edge_id}
                onOpen={({ edge_id }) => navigate(edgePath(edge_id))}
              />
              <Pager
                {...{ page, total }}
                pageSize={PAGE_SIZE}
                pathOf={(other) => edgesPath({ ...query, page: other })}
              />
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function GroupSelect({ value, onChange }: { readonly value: string; readonly onChange: (group: string) => void }) {
  const t = useText(edgesText);
  const load = useRead('groupOperator.list', {});
  const names = load.kind === 'ready' ? load.data.list.map(({ name }) => name) : [];
  const choices = [...new Set([...names, ...(value === '' ? [] : [value])])].map((name) => ({
    value: name,
    label: name,
  }));
  return (
    <Select
      label={t.group}
      choices={[{ value: '', label: t.anyGroup }, ...choices]}
      value={value}
      onChange={onChange}
    />
  );
}

function useColumns(): readonly Column<EdgeRow>[] {
  const t = useText(edgesText);
  const locale = usePreference('locale');
  return [
    {
      id: 'edge',
      title: t.edge,
      phone: 'first',
      show: ({ edge_id, labels }) => (
        <>
          <Link href={edgePath(edge_id)} className="mono">
            {edge_id}
          </Link>{' '}
          <span className="help">{labelsText(labels)}</span>
        </>
      ),
    },
    { id: 'state', title: t.status, phone: 'second', show: ({ status }) => <EdgeState status={status} /> },
    { id: 'group', title: t.group, show: ({ group }) => group },
    {
      id: 'revision',
      title: t.revision,
      show: ({ revision, lag, rejected }) => (
        <>
          {revision} <span className="dim">{lag > 0 && t.lag(lag)}</span>{' '}
          <span className="dim">{rejected > 0 && t.rejects(rejected)}</span>
        </>
      ),
    },
    { id: 'build', title: t.build, phone: 'hidden', show: ({ build }) => build },
    {
      id: 'load',
      title: t.load,
      isNumber: true,
      show: ({ load }) =>
        load && (
          <span title={`${t.cpu}: ${formatNumber(load.cpu * 100, locale)} %`}>
            {t.requests(formatShort(load.requests, locale))} · {formatBitRate(load.mbit * MEGA, locale)}
          </span>
        ),
    },
    {
      id: 'seen',
      title: t.report,
      phone: 'hidden',
      show: ({ seen_at }) => (seen_at === 0 ? t.never : <Time at={seen_at * 1000} isRelative />),
    },
    { id: 'actions', title: t.actions, phone: 'hidden', show: (edge) => <EdgeActions edge={edge} /> },
  ];
}
