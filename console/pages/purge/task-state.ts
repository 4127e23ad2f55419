/** How far a task has come. Pure. */
import type { DataOf } from '#contract/operations.ts';

export type Task = DataOf<'cache.getTask'>;
export type Item = Task['items'][number];

const EVERY_MS = 2000;

/** Tasks that are done do not change any more. */
export function everyMsOf(tasks: readonly Pick<Task, 'state'>[]): number | false {
  return tasks.some(({ state }) => state === 'running') && EVERY_MS;
}

/** How far a task has come; each address at each edge is one. */
export type Counts = Pick<Item, 'waiting' | 'done' | 'failed'>;

export function countsOf(items: readonly Counts[]): Counts {
  return items.reduce<Counts>(
    (sum, { waiting, done, failed }) => ({
      waiting: sum.waiting + waiting,
      done: sum.done + done,
      failed: sum.failed + failed,
    }),
    { waiting: 0, done: 0, failed: 0 },
  );
}

const ORDER = ['failed', 'waiting', 'done'] as const;

/** What failed first, then what is waited for; otherwise as they were asked for. */
export function worstFirst<T extends { readonly state: (typeof ORDER)[number] }>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}
