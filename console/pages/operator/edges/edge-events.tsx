/** Events of all edges, or of one, newest first. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Pager } from '../../../components/pager.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { useRead } from '../../../queries.ts';
import { edgePath } from '../../../routes/operators.ts';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';

type FleetEvent = DataOf<'edgeOperator.events'>['list'][number];

const PAGE_SIZE = 20;

interface EdgeEventsProps {
  /** Absent: of all edges. */
  readonly edgeId?: string;
  readonly page: number;
  readonly pathOf: (page: number) => string;
}

export function EdgeEvents({ edgeId, page, pathOf }: EdgeEventsProps) {
  const t = useText(edgesText);
  const request = { page, page_size: PAGE_SIZE, ...(edgeId !== undefined && { edge_id: edgeId }) };
  const load = useRead('edgeOperator.events', request, { keepsPrevious: true });
  const columns = useColumns(edgeId === undefined);
  return (
    <Card title={t.events} isFlush>
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="audit" title={t.noEvents} />}>
        {({ list, total }) => (
          <>
            <Table label={t.events} columns={columns} rows={list} keyOf={keyOf} />
            <Pager {...{ page, total, pathOf }} pageSize={PAGE_SIZE} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

function keyOf({ time, edge_id, event, detail }: FleetEvent): string {
  return [time, edge_id, event, detail].join(' ');
}

function useColumns(hasEdges: boolean): readonly Column<FleetEvent>[] {
  const t = useText(edgesText);
  const edge: Column<FleetEvent> = {
    id: 'edge',
    title: t.edge,
    phone: 'first',
    show: ({ edge_id }) => (
      <Link href={edgePath(edge_id)} className="mono">
        {edge_id}
      </Link>
    ),
  };
  return [
    ...(hasEdges ? [edge] : []),
    { id: 'event', title: t.event, phone: hasEdges ? 'second' : 'first', show: ({ event }) => t.eventNames[event] },
    { id: 'detail', title: t.detail, show: ({ detail }) => detail },
    { id: 'who', title: t.who, phone: 'hidden', show: ({ actor }) => <span className="dim mono">{actor}</span> },
    { id: 'when', title: t.when, show: ({ time }) => <Time at={time * 1000} isRelative /> },
  ];
}
