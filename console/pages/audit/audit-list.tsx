/** Changes with their authors, times and addresses: narrowed, read on, saved as a file. A row opens the differences. */
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import type { Load } from '../../components/load.ts';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { downloadText } from '../../lib/download.ts';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';
import { type AuditRow, useAuditColumns } from './audit-columns.tsx';
import { auditCsv } from './audit-csv.ts';

interface AuditListProps<R extends AuditRow> {
  readonly title: string;
  readonly help: string;
  readonly pages: {
    readonly load: Load<readonly R[]>;
    readonly hasMore: boolean;
    readonly isBusy: boolean;
    readonly onMore: () => void;
  };
  /** The account whose it is that was changed, which stands behind the target; absent: there is one. */
  readonly owner?: Column<R>;
  /** Where a row leads. */
  readonly pathOf: (row: R) => string;
  /** What the list is narrowed by. */
  readonly filter: ReactNode;
  /** The change that is looked at. */
  readonly children: ReactNode;
}

export function AuditList<R extends AuditRow>(props: AuditListProps<R>) {
  const { title, help, pages, owner, pathOf, filter, children } = props;
  const t = useText(auditText);
  const [, navigate] = useLocation();
  const columns = useAuditColumns(pathOf);
  const rows = pages.load.kind === 'ready' ? pages.load.data : [];
  const download = rows.length > 0 && (
    <Button icon="download" onClick={() => downloadText('audit.csv', 'text/csv', auditCsv(rows))}>
      {t.csv}
    </Button>
  );
  return (
    <Page title={title} actions={download}>
      <p className="help">{help}</p>
      {filter}
      <Card isFlush>
        <Loaded
          load={pages.load}
          lines={10}
          isEmpty={(list) => list.length === 0}
          empty={<Empty icon="audit" title={t.noEvents} text={t.noEventsHelp} />}
        >
          {(list) => (
            <Table
              label={title}
              columns={owner === undefined ? columns : columns.toSpliced(2, 0, owner)}
              rows={list}
              keyOf={({ event_id }) => event_id}
              onOpen={(row) => navigate(pathOf(row))}
            />
          )}
        </Loaded>
        {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
      </Card>
      {children}
    </Page>
  );
}
