/** The audit trail: authors, times and addresses of changes. A row opens the differences. */
import { Link, useLocation, useSearch } from 'wouter';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { FewNames } from '../../components/few-names.tsx';
import { SearchInput } from '../../components/input.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { writeCsv } from '../../lib/csv.ts';
import { downloadText } from '../../lib/download.ts';
import { useTyped } from '../../lib/use-typed.ts';
import { usePages } from '../../queries.ts';
import { type AuditQuery, auditPath, readAuditQuery } from '../../routes.ts';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';
import { EventDialog } from './event-dialog.tsx';

export type AuditRow = DataOf<'audit.list'>['list'][number];

const PAGE_SIZE = 50;

export function Audit() {
  const t = useText(auditText);
  const [, navigate] = useLocation();
  const query = readAuditQuery(useSearch());
  const pages = usePages('audit.list', requestOf(query), 'before');
  const columns = useColumns(query);
  const rows = pages.load.kind === 'ready' ? pages.load.data : [];
  const download = rows.length > 0 && (
    <Button icon="download" onClick={() => downloadText('audit.csv', 'text/csv', csvOf(rows))}>
      {t.csv}
    </Button>
  );
  return (
    <Page title={t.title} actions={download}>
      <p className="help">{t.help}</p>
      <Filter query={query} onChange={(next) => navigate(auditPath(next), { replace: true })} />
      <Card isFlush>
        <Loaded
          load={pages.load}
          lines={10}
          isEmpty={(list) => list.length === 0}
          empty={<Empty icon="audit" title={t.noEvents} text={t.noEventsHelp} />}
        >
          {(list) => (
            <Table
              label={t.title}
              columns={columns}
              rows={list}
              keyOf={({ event_id }) => event_id}
              onOpen={({ event_id }) => navigate(auditPath({ ...query, event: event_id }))}
            />
          )}
        </Loaded>
        {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
      </Card>
      {query.event !== '' && (
        <EventDialog eventId={query.event} onClose={() => navigate(auditPath({ ...query, event: '' }))} />
      )}
    </Page>
  );
}

/** Leaves out the name of an operation that is still being typed: the service would refuse it. */
function requestOf({ operation, target_kind, target_id }: AuditQuery): CallOf<'audit.list'> {
  return {
    ...(/^[a-z]+\.[a-z]+$/i.test(operation) && { operation }),
    ...(target_kind !== '' && { target_kind }),
    ...(target_id !== '' && { target_id }),
    page_size: PAGE_SIZE,
  };
}

interface FilterProps {
  readonly query: AuditQuery;
  readonly onChange: (query: AuditQuery) => void;
}

function Filter({ query, onChange }: FilterProps) {
  const t = useText(auditText);
  const operation = useTyped(query.operation, (typed) => onChange({ ...query, operation: typed.trim() }));
  const target = useTyped(query.target_id, (typed) => onChange({ ...query, target_id: typed.trim() }));
  const choices = [
    { value: '', label: t.anyKind },
    ...Object.entries(t.kinds).map(([value, label]) => ({ value, label })),
  ];
  return (
    <search className="row">
      <SearchInput label={t.operation} {...operation} />
      <Select
        label={t.kind}
        choices={choices}
        value={query.target_kind}
        onChange={(target_kind) => onChange({ ...query, target_kind })}
      />
      <SearchInput label={t.id} {...target} />
    </search>
  );
}

function useColumns(query: AuditQuery): readonly Column<AuditRow>[] {
  const t = useText(auditText);
  return [
    {
      id: 'what',
      title: t.what,
      phone: 'first',
      show: ({ event_id, operation }) => (
        <Link href={auditPath({ ...query, event: event_id })} className="mono">
          {operation}
        </Link>
      ),
    },
    { id: 'target', title: t.target, show: ({ target_name, target_id }) => target_name || target_id },
    { id: 'changed', title: t.changed, phone: 'hidden', show: ({ changed }) => <FewNames names={changed} /> },
    { id: 'who', title: t.who, show: (row) => <Actor {...row} /> },
    { id: 'address', title: t.from, phone: 'hidden', show: ({ address }) => <span className="mono">{address}</span> },
    { id: 'when', title: t.when, phone: 'second', show: ({ at }) => <Time at={at} isRelative /> },
  ];
}

export function Actor({ actor, actor_name }: Pick<AuditRow, 'actor' | 'actor_name'>) {
  const t = useText(auditText);
  return (
    <>
      {actor_name} <span className="dim">{t.actors[actor]}</span>
    </>
  );
}

function csvOf(rows: readonly AuditRow[]): string {
  const names = [
    'at',
    'actor',
    'actor_name',
    'address',
    'operation',
    'target_kind',
    'target_id',
    'target_name',
  ] as const;
  const head = [...names, 'revision', 'request_id', 'changed'];
  return writeCsv(
    head,
    rows.map((row) => [
      new Date(row.at).toISOString(),
      ...names.slice(1).map((name) => String(row[name])),
      row.revision,
      row.request_id,
      row.changed.join(' '),
    ]),
  );
}
