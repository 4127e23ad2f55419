/** The lines of a domain's log as edges write them. */
import { type FormEvent, useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Empty } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { formatBytes, formatNumber } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import { FILTER_FIELDS, type Line, NO_FILTER } from './line.ts';
import { LineDialog } from './line-dialog.tsx';
import styles from './log-tail.module.css';
import { type Following, useFollow } from './use-follow.ts';

export function LogTail({ domainId }: { readonly domainId: string }) {
  const t = useText(logsText);
  const [filter, setFilter] = useState(NO_FILTER);
  const following = useFollow();
  const { followed, isRunning, problem, start, stop, clear } = following;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isRunning) stop();
    else start(domainId, filter);
  };
  return (
    <>
      <form className={styles['filter']} onSubmit={submit}>
        {FILTER_FIELDS.map((field) => (
          <Field key={field} label={t.filters[field]}>
            {(ids) => (
              <TextInput
                ids={ids}
                isMono
                placeholder={t.examples[field]}
                value={filter[field]}
                disabled={isRunning}
                onChange={(event) => setFilter({ ...filter, [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
        <div className="row">
          <Button kind={isRunning ? 'normal' : 'primary'} icon={isRunning ? 'pause' : 'play'} type="submit">
            {isRunning ? t.pause : t.start}
          </Button>
          {followed.lines.length > 0 && <Button onClick={clear}>{t.clear}</Button>}
        </div>
      </form>
      {problem && <Notice tone="bad">{problem.text}</Notice>}
      <Lines following={following} domainId={domainId} />
    </>
  );
}

function Lines({ following, domainId }: { readonly following: Following; readonly domainId: string }) {
  const t = useText(logsText);
  const locale = usePreference('locale');
  const [opened, setOpened] = useState<Line>();
  const columns = useColumns(setOpened);
  const { lines, dropped, end } = following.followed;
  const isIdle = lines.length === 0;
  return (
    <>
      {dropped > 0 && <Notice tone="info">{t.dropped(formatNumber(dropped, locale))}</Notice>}
      {end !== undefined && <Notice tone="info">{t.ends[end]}</Notice>}
      <Card isFlush>
        {isIdle && following.isRunning && <Empty icon="logs" title={t.waiting} />}
        {isIdle && !following.isRunning && <Empty icon="logs" title={t.notStarted} text={t.notStartedHelp} />}
        {!isIdle && (
          <div className={styles['lines']}>
            <Table label={t.lines} columns={columns} rows={lines} keyOf={({ id }) => String(id)} onOpen={setOpened} />
          </div>
        )}
      </Card>
      {opened && <LineDialog line={opened} domainId={domainId} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function useColumns(open: (line: Line) => void): readonly Column<Line>[] {
  const t = useText(logsText);
  const locale = usePreference('locale');
  return [
    {
      id: 'time',
      title: t.fields.time,
      phone: 'first',
      show: (line) => (
        <button type="button" className={styles['open']} title={t.more} onClick={() => open(line)}>
          {line.fields.time.slice(11, 23)}
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

function Status({ status }: { readonly status: string }) {
  if (status.startsWith('5')) return <Badge tone="bad">{status}</Badge>;
  return status.startsWith('4') ? <Badge tone="warn">{status}</Badge> : status;
}
