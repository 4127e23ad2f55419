/** Lines of a log, of which each opens with all of its fields. */
import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { writeCsv } from '../../lib/csv.ts';
import { downloadText } from '../../lib/download.ts';
import { formatBytes } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import { cellsOf, LINE_FIELDS, type Line } from './line.ts';
import { LineDialog } from './line-dialog.tsx';
import styles from './line-table.module.css';

interface LineTableProps {
  readonly lines: readonly Line[];
  readonly domainId: string;
  /** Lines of several days: their dates are shown too. */
  readonly hasDates?: boolean;
}

export function LineTable({ lines, domainId, hasDates = false }: LineTableProps) {
  const t = useText(logsText);
  const [opened, setOpened] = useState<Line>();
  const columns = useColumns(setOpened, hasDates);
  return (
    <>
      <div className={styles['lines']}>
        <Table label={t.lines} columns={columns} rows={lines} keyOf={({ id }) => String(id)} onOpen={setOpened} />
      </div>
      {opened && <LineDialog line={opened} domainId={domainId} onClose={() => setOpened(undefined)} />}
    </>
  );
}

/** The lines that are shown as a file, with all of their fields. */
export function CsvButton({ lines, domain }: { readonly lines: readonly Line[]; readonly domain: string }) {
  const t = useText(logsText);
  if (lines.length === 0) return null;
  const download = () => downloadText(`${domain}-lines.csv`, 'text/csv', writeCsv(LINE_FIELDS, cellsOf(lines)));
  return (
    <Button icon="download" onClick={download}>
      {t.csv}
    </Button>
  );
}

function useColumns(open: (line: Line) => void, hasDates: boolean): readonly Column<Line>[] {
  const t = useText(logsText);
  const locale = usePreference('locale');
  return [
    {
      id: 'time',
      title: t.fields.time,
      phone: 'first',
      show: (line) => (
        <button type="button" className={styles['open']} title={t.more} onClick={() => open(line)}>
          {shortTime(line.fields.time, hasDates)}
        </button>
      ),
    },
    {
      id: 'status',
      title: t.fields.status,
      phone: 'second',
      show: ({ fields: { status } }) => <Status {...{ status }} />,
    },
    {
      id: 'cache',
      title: t.fields.cache,
      phone: 'hidden',
      show: ({ fields: { cache } }) => <code className="mono">{cache}</code>,
    },
    { id: 'method', title: t.fields.method, phone: 'hidden', show: ({ fields: { method } }) => method },
    {
      id: 'target',
      title: t.fields.target,
      show: ({ fields: { target } }) => <span className={`mono ${styles['target']}`}>{target}</span>,
    },
    { id: 'client', title: t.fields.client, show: ({ fields: { client } }) => <span className="mono">{client}</span> },
    {
      id: 'size',
      title: t.fields.response_bytes,
      isNumber: true,
      phone: 'hidden',
      show: ({ fields: { response_bytes } }) => formatBytes(Number(response_bytes), locale),
    },
    {
      id: 'duration',
      title: t.fields.duration_ms,
      isNumber: true,
      phone: 'hidden',
      show: ({ fields: { duration_ms } }) => `${duration_ms} ms`,
    },
  ];
}

/** `01-31 12:00:00.123` of the log's own time, with or without its date. */
function shortTime(time: string, hasDate: boolean): string {
  return `${hasDate ? `${time.slice(5, 10)} ` : ''}${time.slice(11, 23)}`;
}

function Status({ status }: { readonly status: string }) {
  if (status.startsWith('5')) return <Badge tone="bad">{status}</Badge>;
  return status.startsWith('4') ? <Badge tone="warn">{status}</Badge> : status;
}
