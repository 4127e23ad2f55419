/** The edges, and whether the domain's last change is in force there. Rows turn by themselves. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { Tone } from '../../components/tone.ts';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import type { DomainData } from './domain.tsx';

type Propagation = DataOf<'domain.propagation'>;
type EdgeRow = Propagation['edges'][number];

const MOVING_MS = 1000;
const RESTING_MS = 15_000;

const TONES: Readonly<Record<EdgeRow['state'], Tone>> = { waiting: 'busy', done: 'ok', refused: 'bad', away: 'idle' };

export function PropagationTab({ domain: { domain_id, domain_status } }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const everyMs = Number(domain_status) === 1 ? MOVING_MS : RESTING_MS;
  const load = useRead('domain.propagation', { domain_id }, { everyMs });
  const columns = useColumns();
  return (
    <Loaded load={load}>
      {(data) => (
        <Card title={headOf(data, t)} isFlush>
          {data.edges.length === 0 ? (
            <Empty icon="edges" title={t.noEdges} />
          ) : (
            <Table label={t.edgeName} columns={columns} rows={data.edges} keyOf={({ edge }) => edge} />
          )}
        </Card>
      )}
    </Loaded>
  );
}

function headOf({ counts, revision }: Propagation, t: (typeof domainViewsText)['en']): string {
  return t.head(counts.done, counts.done + counts.waiting + counts.refused, revision);
}

function useColumns(): readonly Column<EdgeRow>[] {
  const t = useText(domainViewsText);
  return [
    { id: 'edge', title: t.edgeName, phone: 'first', show: ({ edge }) => <span className="mono">{edge}</span> },
    {
      id: 'state',
      title: t.state,
      phone: 'second',
      show: ({ state }) => <Badge tone={TONES[state]}>{t.edgeStates[state]}</Badge>,
    },
    { id: 'applied', title: t.applied, isNumber: true, show: ({ applied_revision }) => applied_revision },
    { id: 'reported', title: t.reported, show: ({ reported_at }) => <Time at={reported_at} isRelative /> },
    { id: 'error', title: t.error, show: ({ error }) => error },
  ];
}
