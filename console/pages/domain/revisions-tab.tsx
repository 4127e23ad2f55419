/** Earlier revisions of a domain: their authors, their changes, and the way back. */
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Diff } from '../../components/diff.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { usePages, useRead } from '../../queries.ts';
import { comparePath, domainPath, readCompareQuery } from '../../routes/domains.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import type { DomainData } from './domain.tsx';
import { RevertDialog } from './revert-dialog.tsx';
import { useDifferences } from './use-differences.ts';

type Revision = DataOf<'domain.listRevisions'>['list'][number];

const PAGE_SIZE = 20;

export function RevisionsTab({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const { domain_id } = domain;
  const [, navigate] = useLocation();
  const { older, newer } = readCompareQuery(useSearch());
  const [reverted, setReverted] = useState<string>();
  const pages = usePages('domain.listRevisions', { domain_id, page_size: PAGE_SIZE }, 'before');
  const columns = useColumns((revision) => setReverted(revision), domain);
  return (
    <>
      {older !== '' && (
        <Comparison {...{ domain_id, older, newer }} onClose={() => navigate(domainPath(domain_id, 'revisions'))} />
      )}
      <Card title={t.revision} note={t.revisionsHelp} isFlush>
        <Loaded load={pages.load}>
          {(rows) => <Table label={t.revision} columns={columns} rows={rows} keyOf={({ revision }) => revision} />}
        </Loaded>
        {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
      </Card>
      {reverted !== undefined && (
        <RevertDialog domain={domain} revision={reverted} onClose={() => setReverted(undefined)} />
      )}
    </>
  );
}

function useColumns(onRevert: (revision: string) => void, domain: DomainData): readonly Column<Revision>[] {
  const t = useText(domainViewsText);
  const [, navigate] = useLocation();
  const mayWrite = useSession().access.includes('write');
  const compare = (from: string) => navigate(comparePath(domain.domain_id, from));
  return [
    { id: 'revision', title: t.revision, phone: 'first', show: ({ revision }) => revision },
    { id: 'when', title: t.when, phone: 'second', show: ({ changed_at }) => <Time at={changed_at} isRelative /> },
    { id: 'who', title: t.who, show: ({ changed_by }) => <Author by={changed_by} /> },
    {
      id: 'what',
      title: t.what,
      show: ({ changed_by }) => <span className="mono">{changed_by?.operation ?? '—'}</span>,
    },
    {
      id: 'do',
      title: t.actions,
      show: ({ revision }) =>
        revision !== domain.revision && (
          <span className="row">
            <Button onClick={() => compare(revision)}>{t.compare}</Button>
            {mayWrite && <Button onClick={() => onRevert(revision)}>{t.revert}</Button>}
          </span>
        ),
    },
  ];
}

function Author({ by }: { readonly by: Revision['changed_by'] }) {
  const t = useText(domainViewsText);
  if (by === null) return <span className="dim">{t.unknown}</span>;
  if (by.actor === 'service') return t.system;
  if (by.actor === 'operator') return t.operator;
  return (
    <>
      {by.actor_name || `#${by.token_id}`} <span className="dim">{by.address}</span>
    </>
  );
}

interface ComparisonProps {
  readonly domain_id: string;
  readonly older: string;
  /** Empty: the newest. */
  readonly newer: string;
  readonly onClose: () => void;
}

function Comparison({ domain_id, older, newer, onClose }: ComparisonProps) {
  const t = useText(domainViewsText);
  const load = useRead('domain.compare', {
    domain_id,
    from_revision: older,
    ...(newer !== '' && { to_revision: newer }),
  });
  return (
    <Card title={t.compareTitle(older, newer)} actions={<Button onClick={onClose}>{t.closeComparison}</Button>}>
      <Loaded load={load} isEmpty={({ changes }) => changes.length === 0} empty={<p>{t.noDifference}</p>}>
        {({ changes }) => <Differences changes={changes} />}
      </Loaded>
    </Card>
  );
}

function Differences({ changes }: Pick<DataOf<'domain.compare'>, 'changes'>) {
  return <Diff differences={useDifferences(changes)} />;
}
