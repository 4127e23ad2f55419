/** One task: each address with its edges, and each edge; what failed comes first. */
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { purgeText } from '../../text/purge.ts';
import { Progress, State } from './progress.tsx';
import { countsOf, everyMsOf, type Item, type Task, worstFirst } from './task-state.ts';

interface TaskDialogProps {
  readonly taskId: string;
  readonly onClose: () => void;
}

export function TaskDialog({ taskId, onClose }: TaskDialogProps) {
  const t = useText(purgeText);
  const common = useText(commonText);
  const load = useRead('cache.getTask', { task_id: taskId }, { everyMs: (task) => everyMsOf(task ? [task] : []) });
  return (
    <Dialog
      title={t.taskTitle(taskId)}
      isOpen
      isWide
      onClose={onClose}
      footer={<Button onClick={onClose}>{common.close}</Button>}
    >
      <Loaded load={load} lines={6}>
        {(task) => <Shown task={task} />}
      </Loaded>
    </Dialog>
  );
}

function Shown({ task }: { readonly task: Task }) {
  const t = useText(purgeText);
  return (
    <>
      <p className="row">
        <Progress state={task.state} counts={countsOf(task.items)} /> <span className="dim">{task.create_time}</span>
      </p>
      <Table
        label={t.items}
        columns={useItemColumns()}
        rows={worstFirst(task.items)}
        keyOf={({ kind, item }) => `${kind} ${item}`}
      />
      <Table label={t.edges} columns={useEdgeColumns()} rows={worstFirst(task.edges)} keyOf={({ edge }) => edge} />
    </>
  );
}

function useItemColumns(): readonly Column<Item>[] {
  const t = useText(purgeText);
  return [
    {
      id: 'item',
      title: t.items,
      phone: 'first',
      show: ({ item, failures }) => (
        <>
          <span className="mono wrap">{item}</span>
          {failures.map(({ edge, reason }) => (
            <p key={edge} className="help">
              {edge}: <span className="mono">{reason}</span>
            </p>
          ))}
        </>
      ),
    },
    { id: 'kind', title: t.what, show: ({ kind }) => t.itemKinds[kind] },
    { id: 'state', title: t.state, phone: 'second', show: ({ state }) => <State state={state} /> },
    {
      id: 'edges',
      title: t.edges,
      show: ({ waiting, done, failed }) => t.doneOf(done, waiting + done + failed),
    },
  ];
}

function useEdgeColumns(): readonly Column<Task['edges'][number]>[] {
  const t = useText(purgeText);
  return [
    { id: 'edge', title: t.edge, phone: 'first', show: ({ edge }) => <span className="mono">{edge}</span> },
    { id: 'state', title: t.state, phone: 'second', show: ({ state }) => <State state={state} /> },
    { id: 'detail', title: t.detail, show: ({ detail }) => (detail === 'away' ? t.away : detail) },
  ];
}
