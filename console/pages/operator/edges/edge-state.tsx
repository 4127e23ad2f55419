/** The state of an edge: only troubles have a color. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../../components/badge.tsx';
import type { Tone } from '../../../components/tone.ts';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';

export type EdgeRow = DataOf<'edgeOperator.list'>['list'][number];

/** Reports of edges are no hints: they come every 5 s. */
export const REPORT_MS = 5000;

const TONES: Readonly<Record<EdgeRow['status'], Tone>> = {
  ready: 'ok',
  syncing: 'busy',
  unhealthy: 'warn',
  draining: 'warn',
  drained: 'idle',
  away: 'bad',
  enrolled: 'idle',
  suspect: 'bad',
  revoked: 'idle',
  removed: 'idle',
};

export function EdgeState({ status }: Pick<EdgeRow, 'status'>) {
  const t = useText(edgesText);
  return <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>;
}

export function labelsText(labels: EdgeRow['labels']): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}
