/** The fleet: its edges, their groups, the tokens that machines enrol with, and what happened. */
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { Page } from '../../../components/page.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { useRead } from '../../../queries.ts';
import { EDGE_VIEWS, type EdgesQuery, edgesPath, readEdgesQuery } from '../../../routes/operators.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';
import { AddEdge } from './add-edge.tsx';
import { EdgeEvents } from './edge-events.tsx';
import { EdgeList } from './edge-list.tsx';
import { REPORT_MS } from './edge-state.tsx';
import { EdgeTokens } from './edge-tokens.tsx';
import { Groups } from './groups.tsx';
import { Sinks } from './sinks.tsx';

export function Edges() {
  const t = useText(edgesText);
  const [, navigate] = useLocation();
  const query = readEdgesQuery(useSearch());
  const [isAdding, setAdding] = useState(false);
  const { access } = useSession();
  return (
    <Page
      title={t.title}
      note={<Head />}
      actions={
        access.includes('manage') && (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {t.add}
          </Button>
        )
      }
    >
      <Tabs
        label={t.title}
        tabs={EDGE_VIEWS.filter((view) => view !== 'tokens' || access.includes('manage')).map((view) => ({
          to: edgesPath({ view }),
          title: t.views[view],
          isOpen: view === query.view,
        }))}
      />
      <View query={query} onChange={(next) => navigate(edgesPath(next), { replace: true })} />
      {isAdding && <AddEdge onClose={() => setAdding(false)} />}
    </Page>
  );
}

interface ViewProps {
  readonly query: EdgesQuery;
  readonly onChange: (query: EdgesQuery) => void;
}

function View({ query, onChange }: ViewProps) {
  switch (query.view) {
    case 'edges':
      return <EdgeList query={query} onChange={onChange} />;
    case 'groups':
      return <Groups />;
    case 'tokens':
      return <EdgeTokens />;
    case 'sinks':
      return <Sinks />;
    case 'events':
      return <EdgeEvents page={query.page} pathOf={(page) => edgesPath({ ...query, page })} />;
  }
}

function Head() {
  const t = useText(edgesText);
  const load = useRead('edgeOperator.status', {}, { everyMs: REPORT_MS });
  if (load.kind !== 'ready') return null;
  const { edges, head_revision } = load.data;
  const living = edges.filter(({ status }) => status !== 'removed' && status !== 'revoked');
  const sum = (rows: typeof edges) => rows.reduce((total, { count }) => total + count, 0);
  return (
    <span className="dim" role="status">
      {t.head(head_revision, sum(living.filter(({ status }) => status === 'ready')), sum(living))}
    </span>
  );
}
