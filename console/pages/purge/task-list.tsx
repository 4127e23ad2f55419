/** The tasks of the last 30 days, the latest first, each with how far it has come. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { usePages } from '../../queries.ts';
import { purgePath } from '../../routes/delivery.ts';
import { useText } from '../../text/catalogue.ts';
import { purgeText } from '../../text/purge.ts';
import type { Act } from './lines.ts';
import { Progress } from './progress.tsx';
import { everyMsOf } from './task-state.ts';

type Row = DataOf<'cache.listTasks'>['list'][number];

const PAGE_SIZE = 20;

interface TaskListProps {
  readonly act: Act;
  readonly onOpen: (taskId: string) => void;
}

export function TaskList({ act, onOpen }: TaskListProps) {
  const t = useText(purgeText);
  const columns = useColumns(act);
  const pages = usePages('cache.listTasks', { kind: act, page_size: PAGE_SIZE }, 'before', everyMsOf);
  return (
    <Card title={t.tasks} note={t.tasksNote} isFlush>
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
            keyOf={({ task_id }) => task_id}
            onOpen={({ task_id }) => onOpen(task_id)}
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
      phone: 'second',
      show: ({ task_id }) => <Link href={purgePath({ act, task: task_id })}>{t.taskTitle(task_id)}</Link>,
    },
    {
      id: 'items',
      title: t.items,
      phone: 'first',
      show: ({ items: [first = ''], items_total }) => (
        <>
          <span className="mono wrap">{first}</span>
          {items_total > 1 && <span className="dim"> {t.moreItems(items_total - 1)}</span>}
        </>
      ),
    },
    { id: 'when', title: t.when, show: ({ created_at }) => <Time at={created_at} isRelative /> },
    {
      id: 'progress',
      title: t.progress,
      show: ({ state, waiting, done, failed }) => <Progress state={state} counts={{ waiting, done, failed }} />,
    },
  ];
}
