/** Purges and prefetches, their words on the wire and in the model. Used by `wire.ts` only. */
import { MAX_ITEMS_PER_CALL, MAX_SHOWN_ITEMS } from '#contract/domains/cache-operations.ts';
import { localizeReason } from '#contract/errors/reasons.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { quote } from '#contract/schema/found.ts';
import type { CacheTask, TaskProgress, TaskSummary } from '#model/cache-task.ts';
import { type ObjectUrl, parseObjectUrl } from '#sites/object-url.ts';
import type { Look } from './wire-domain.ts';
import { DEFAULT_PAGE_SIZE } from './wire-values.ts';

/** One URL of a call. */
export interface AskedUrl extends Omit<ObjectUrl, 'kind'> {
  readonly kind: 'url' | 'directory';
  /** Text as written. */
  readonly asked: string;
  /** Position in the request, for an error. */
  readonly field: string;
}

export type AskedPurge =
  | { readonly kind: 'domain'; readonly domainId: number }
  | { readonly kind: 'urls'; readonly urls: readonly AskedUrl[] };

export interface TaskView {
  readonly task: CacheTask;
  readonly progress: TaskProgress;
}

export function readPurge({ urls = [], directories = [], domain_id }: RequestOf<'cache.purge'>): AskedPurge {
  const count = urls.length + directories.length;
  if (domain_id !== undefined) {
    if (count > 0) throw new ServiceError('purgeAmbiguous');
    return { kind: 'domain', domainId: domain_id };
  }
  if (count === 0) throw new ServiceError('purgeEmpty');
  if (count > MAX_ITEMS_PER_CALL) throw new ServiceError('tooManyItems', { limit: MAX_ITEMS_PER_CALL, count });
  return {
    kind: 'urls',
    urls: [
      ...urls.map((text, index) => readUrl(`urls[${index}]`, text)),
      ...directories.map((text, index) => readDirectory(`directories[${index}]`, text)),
    ],
  };
}

export function readPrefetch({ urls }: RequestOf<'cache.prefetch'>): readonly AskedUrl[] {
  if (urls.length === 0) throw new ServiceError('prefetchEmpty');
  return urls.map((text, index) => readUrl(`urls[${index}]`, text));
}

function readUrl(field: string, text: string): AskedUrl {
  const url = parseObjectUrl(text);
  if (url.kind === 'invalid') throw refusal(field, text, url.reason);
  if (MEANT_AS_WILDCARD.test(url.keyTarget)) throw refusal(field, text, NO_WILDCARD);
  return { ...url, asked: text, field };
}

function readDirectory(field: string, text: string): AskedUrl {
  const url = readUrl(field, text);
  if (url.keyTarget.includes('?')) throw refusal(field, text, 'has a query');
  if (!url.keyTarget.endsWith('/')) throw refusal(field, text, 'does not end with /');
  return { ...url, kind: 'directory' };
}

/** A path that ends so; within one, and in a query, a `*` is a character like others. docs/decisions/0105 */
const MEANT_AS_WILDCARD = /^[^?]*\*\/?(?:\?|$)/;
const NO_WILDCARD =
  'ends with *, which is not a wildcard: purge everything below a path as a directory, a URL that ends with /';

function refusal(field: string, text: string, reason: string): ServiceError {
  return new ServiceError('urlInvalid', { field, entry: quote(text), reason: localizeReason(reason) });
}

export function writeTask({ task, progress }: TaskView, { formatTime }: Look): DataOf<'cache.getTask'> {
  return {
    task_id: String(task.id),
    kind: task.kind,
    state: progress.state,
    create_time: formatTime(task.createdAt),
    edges: progress.edges.map(({ edge, state, detail }) => ({ edge, state, detail })),
    items: progress.items.map(({ kind, asked, state, counts, failures }) => ({
      kind,
      item: asked,
      state,
      ...counts,
      failures: failures.map(({ edge, reason }) => ({ edge, reason })),
    })),
  };
}

export function readTaskPage({ kind, before, page_size = DEFAULT_PAGE_SIZE }: RequestOf<'cache.listTasks'>) {
  return { kind, before, limit: page_size };
}

export interface TaskPage {
  readonly views: readonly { readonly task: CacheTask; readonly summary: TaskSummary }[];
  readonly next: string;
}

export function writeTaskPage({ views, next }: TaskPage): DataOf<'cache.listTasks'> {
  const list = views.map(({ task, summary: { state, waiting, done, failed } }) => ({
    task_id: String(task.id),
    kind: task.kind,
    state,
    created_at: task.createdAt,
    items: task.items.slice(0, MAX_SHOWN_ITEMS).map(({ asked }) => asked),
    items_total: task.items.length,
    ...{ waiting, done, failed },
  }));
  return { list, next };
}
