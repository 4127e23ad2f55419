/** The `/cache/*` operations: what a customer orders about cached objects, and how far it has come. */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { countPrefetchResults, findTask, listPrefetchResults, listTasks } from '#db/tables/cache-tasks.ts';
import { readServing } from '#db/tables/edge-groups.ts';
import { listEdges } from '#db/tables/edges.ts';
import { EDGE_KNOWN_MS, progressOf, summaryOf } from '#model/cache-task.ts';
import { orderPrefetch, orderPurge } from '../settings/cache-orders.ts';
import type { Call, Handler } from './handler.ts';

export const CACHE_HANDLERS = {
  'cache.purge': async (call, asked) => orderPurge(call.db, toOrderer(call), asked),

  'cache.prefetch': async (call, urls) => orderPrefetch(call.db, toOrderer(call), urls),

  'cache.getTask': async ({ db, now, accountId, domainIds }, { taskId }) => {
    const task = await findTask(db.query, { accountId, domainIds, id: taskId });
    if (task === undefined) throw new ServiceError('taskNotFound', { taskId });
    const edges = await listEdges(db.query, { now, withinMs: EDGE_KNOWN_MS });
    const results = task.kind === 'prefetch' ? await listPrefetchResults(db.query, taskId) : [];
    const serving = await readServing(
      db.query,
      task.items.flatMap(({ domainId }) => domainId ?? []),
    );
    return { task, progress: progressOf(task, { edges, serving }, results, now) };
  },

  'cache.listTasks': async ({ db, now, accountId, domainIds }, { kind, before, limit }) => {
    const page = await listTasks(db.query, { accountId, kind, before, limit });
    const tasks = page.filter(({ items }) => items.every(({ domainId = 0 }) => domainIds?.includes(domainId) ?? true));
    const edges = await listEdges(db.query, { now, withinMs: EDGE_KNOWN_MS });
    const serving = await readServing(
      db.query,
      tasks.flatMap(({ items }) => items.flatMap(({ domainId }) => domainId ?? [])),
    );
    const prefetches = tasks.filter((task) => task.kind === 'prefetch').map(({ id }) => id);
    const counted = await countPrefetchResults(db.query, prefetches);
    const views = tasks.map((task) => ({
      task,
      summary: summaryOf(task, { edges, serving }, counted.get(task.id) ?? { done: 0, failed: 0 }, now),
    }));
    return { views, next: page.length < limit ? '' : String(page.at(-1)?.id ?? '') };
  },
} satisfies { readonly [N in RouteName as N extends `cache.${string}` ? N : never]: Handler<N> };

function toOrderer({ accountId, domainIds, now, days, cacheLimits: limits }: Call) {
  return { accountId, domainIds, now, today: days.dayOf(now), limits };
}
