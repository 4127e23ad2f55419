/** Tasks that were begun, the latest first. That they were is in the audit trail; how far each has come is asked of each. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { usePages, useRead } from '../../queries.ts';
import { purgePath } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { purgeText } from '../../text/purge.ts';
import type { Act } from './lines.ts';
import { Progress } from './progress.tsx';
import { everyMsOf } from './task-state.ts';

type Row = DataOf<'audit.list'>['list'][number];

/** Each asks for its own progress. */
const PAGE_SIZE = 10;

interface TaskListProps {
  readonly act: Act;
  readonly onOpen: (taskId: string) => void;
}

export function TaskList({ act, onOpen }: TaskListProps) {
  const t = useText(purgeText);
  const columns = useColumns(act);
  const pages = usePages('audit.list', { operation: `cache.${act}`, page_size: PAGE_SIZE }, 'before');
  return (
    <Card title={t.tasks} isFlush>
      <Loaded
        load={pages.load}
        isEmpty={(rows) => rows.length === 0}
        empty={<Empty icon="purge" title={t.noTasks} text={t.noTasksHelp} />}
      >
        {(rows) => (
          <Table
            label={t.tasks}
            columns={columns}
            rows={rows}
            keyOf={({ event_id }) => event_id}
            onOpen={({ target_id }) => onOpen(target_id)}
          />
        )}
      </Loaded>
      {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
    </Card>
  );
}

function useColumns(act: Act): readonly Column<Row>[] {
  const t = useText(purgeText);
  return [
    {
      id: 'task',
      title: t.task,
      phone: 'first',
      show: ({ target_id }) => <Link href={purgePath({ act, task: target_id })}>{t.taskTitle(target_id)}</Link>,
    },
    { id: 'when', title: t.when, phone: 'second', show: ({ at }) => <Time at={at} isRelative /> },
    { id: 'who', title: t.who, show: ({ actor_name }) => actor_name },
    { id: 'progress', title: t.progress, show: ({ target_id }) => <TaskProgress taskId={target_id} /> },
  ];
}

function TaskProgress({ taskId }: { readonly taskId: string }) {
  const load = useRead('cache.getTask', { task_id: taskId }, { everyMs: everyMsOf });
  if (load.kind === 'failed') return <span className="dim">{load.problem.text}</span>;
  return load.kind === 'ready' ? <Progress task={load.data} /> : null;
}
