/** What the `/cache/*` operations take and give: purge, prefetch, and how far they have come. */
import * as z from 'zod';
import { choice, identifier, integer, lines, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { listWithNext } from './list-fields.ts';

/** Items in all lists of one call together. */
export const MAX_ITEMS_PER_CALL = 100;
const MAX_URL_LENGTH = 2048;

const TASK_KINDS = ['purge', 'prefetch'] as const;
const TASK_STATES = ['running', 'done', 'failed'] as const;
const PROGRESS_STATES = ['waiting', 'done', 'failed'] as const;
/** Tasks of a page: of each, all items are counted at all edges. */
const MAX_TASKS_PER_PAGE = 50;
export const MAX_SHOWN_ITEMS = 3;
const ITEM_KINDS = ['url', 'directory', 'domain'] as const;

const urls = lines({
  maxEntries: MAX_ITEMS_PER_CALL,
  maxLength: MAX_URL_LENGTH,
  expects: {
    'zh-CN': `网址的数组，或每行一个网址的文本，至多 ${MAX_ITEMS_PER_CALL} 个，每个至多 ${MAX_URL_LENGTH} 个字符`,
    en: `an array of URLs, or a text with one per line, at most ${MAX_ITEMS_PER_CALL}, each at most ${MAX_URL_LENGTH} characters`,
  },
  each: {
    'zh-CN': `至多 ${MAX_URL_LENGTH} 个字符的网址，如 http://www.example.com/a.jpg`,
    en: `a URL of at most ${MAX_URL_LENGTH} characters, such as http://www.example.com/a.jpg`,
  },
});
const directories = {
  ...urls,
  expects: {
    'zh-CN': `以 / 结尾的网址的数组，或每行一个网址的文本，至多 ${MAX_ITEMS_PER_CALL} 个，每个至多 ${MAX_URL_LENGTH} 个字符`,
    en: `an array of URLs that end with /, or a text with one per line, at most ${MAX_ITEMS_PER_CALL}, each at most ${MAX_URL_LENGTH} characters`,
  },
};

const taskId = z
  .object({ task_id: z.string().describe('id of the task, for /cache/getTask') })
  .meta({ id: 'StartedTask' });

const TASK_DATA = z.object({
  task_id: z.string().describe('id of the task'),
  kind: z.enum(TASK_KINDS),
  state: z
    .enum(TASK_STATES)
    .describe('running; done: at every live edge; failed: every live edge has reported, and an item failed'),
  create_time: z.string().describe("YYYY-MM-DD HH:MM:SS in the service's time zone"),
  edges: z
    .array(
      z.object({
        edge: z.string().describe('name of the edge'),
        state: z.enum(PROGRESS_STATES),
        detail: z.string().describe('why it failed, or `away` for an edge that does not answer; else empty'),
      }),
    )
    .describe('edges that answered within the last day'),
  items: z
    .array(
      z.object({
        kind: z.enum(ITEM_KINDS),
        item: z.string().describe('the URL as it was written, or the name of the domain'),
        state: z.enum(PROGRESS_STATES),
        waiting: z.int().describe('edges that are not done yet'),
        done: z.int().describe('edges that are done'),
        failed: z.int().describe('edges that failed'),
        failures: z
          .array(z.object({ edge: z.string(), reason: z.string().describe('a reason as in X-Cache') }))
          .describe('at most 20 of the failures'),
      }),
    )
    .describe('the requested items, in their order'),
});

export const CACHE_OPERATIONS = {
  'cache.purge': operation({
    summary: {
      'zh-CN': '刷新缓存：网址、目录或整个域名',
      en: 'Purges URLs, directories or a whole domain from all caches',
    },
    request: request({
      urls: optional(urls),
      directories: optional(directories),
      domain_id: optional(identifier),
    }),
    data: taskId,
    sample: {
      request: { urls: ['http://www.example.com/a.jpg?v=1'], directories: ['http://www.example.com/images/'] },
      data: { task_id: '17' },
    },
  }),
  'cache.prefetch': operation({
    summary: { 'zh-CN': '预热缓存', en: 'Fetches URLs into the cache of every edge' },
    request: request({ urls }),
    data: taskId,
    sample: { request: { urls: ['http://www.example.com/a.jpg'] }, data: { task_id: '18' } },
  }),
  'cache.getTask': operation({
    summary: { 'zh-CN': '查询刷新或预热任务的进度', en: 'Gets the progress of a purge or a prefetch' },
    request: request({ task_id: identifier }),
    data: TASK_DATA,
    sample: {
      request: { task_id: '18' },
      data: {
        task_id: '18',
        kind: 'prefetch',
        state: 'running',
        create_time: '2026-01-31 12:00:00',
        edges: [{ edge: 'local', state: 'waiting', detail: '' }],
        items: [
          {
            kind: 'url',
            item: 'http://www.example.com/a.jpg',
            state: 'waiting',
            waiting: 1,
            done: 0,
            failed: 0,
            failures: [],
          },
        ],
      },
    },
  }),
  'cache.listTasks': operation({
    summary: {
      'zh-CN': '查询最近 30 天的刷新与预热任务，最新的在前',
      en: 'Lists purges and prefetches of the last 30 days, newest first',
    },
    request: request({
      kind: optional(choice(TASK_KINDS, { 'zh-CN': 'purge（刷新）或 prefetch（预热）', en: 'purge or prefetch' })),
      before: optional(identifier),
      page_size: optional(integer(1, MAX_TASKS_PER_PAGE)),
    }),
    data: listWithNext('before', {
      task_id: z.string().describe('id of the task'),
      kind: z.enum(TASK_KINDS),
      state: z.enum(TASK_STATES).describe('as in /cache/getTask'),
      created_at: z.int().describe('Unix milliseconds'),
      items: z.array(z.string()).describe(`the first ${MAX_SHOWN_ITEMS} items, as they were written`),
      items_total: z.int(),
      waiting: z.int().describe('items at edges that are not done yet: each item counts once for each edge'),
      done: z.int(),
      failed: z.int(),
    }),
    sample: {
      request: { kind: 'purge', page_size: 20 },
      data: {
        list: [
          {
            task_id: '17',
            kind: 'purge',
            state: 'running',
            created_at: 1_769_832_000_123,
            items: ['http://www.example.com/a.jpg'],
            items_total: 1,
            waiting: 1,
            done: 2,
            failed: 0,
          },
        ],
        next: '',
      },
    },
  }),
};
