/** How far a task has come. Pure. */
import type { DataOf } from '#contract/operations.ts';

export type Task = DataOf<'cache.getTask'>;
export type Item = Task['items'][number];

const EVERY_MS = 2000;

/** A task that is done does not change any more. */
export function everyMsOf(task: Pick<Task, 'state'> | undefined): number | false {
  return task?.state === 'running' && EVERY_MS;
}

/** Steps that are behind, of all: each address at each edge is one. */
export function stepsOf(items: readonly Pick<Item, 'waiting' | 'done' | 'failed'>[]): {
  readonly past: number;
  readonly failed: number;
  readonly all: number;
} {
  return items.reduce(
    (sum, { waiting, done, failed }) => ({
      past: sum.past + done + failed,
      failed: sum.failed + failed,
      all: sum.all + waiting + done + failed,
    }),
    { past: 0, failed: 0, all: 0 },
  );
}

const ORDER = ['failed', 'waiting', 'done'] as const;

/** What failed first, then what is waited for; otherwise as they were asked for. */
export function worstFirst<T extends { readonly state: (typeof ORDER)[number] }>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}
