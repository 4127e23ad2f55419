/** The stream of hints. Its answer is `text/event-stream`; `data` is that of its first event. docs/decisions/0671 */
import * as z from 'zod';
import { HINT_KINDS } from '../../model/hint.ts';
import { choices, lines, matching, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';

const MAX_IDS = 100;
const MAX_ID_LENGTH = 255;

/** `data` of an event that is a hint. */
export const HINT_DATA = z
  .object({
    kind: z.enum(HINT_KINDS),
    id: z.string().describe('of what changed; of the account, for messages; may be empty'),
    revision: z.string().optional().describe("revision of a domain's settings"),
    at: z.int().describe('Unix milliseconds'),
    hint: z.string().describe('the operation, the kind of the event, `propagation` or `messages`'),
  })
  .meta({ id: 'Hint' });

export const WATCH_OPERATIONS = {
  'event.watch': operation({
    summary: {
      'zh-CN': '持续接收“有变化”的提示（text/event-stream），提示不含数据',
      en: 'Streams hints of what changes as text/event-stream; they say what to read again, and carry no data',
    },
    request: request({
      kinds: optional(
        choices(HINT_KINDS, {
          'zh-CN': `数组，取自 ${HINT_KINDS.join('、')}，至少一个（默认全部）`,
          en: `an array of at least one of ${HINT_KINDS.join(', ')} (default: all)`,
        }),
      ),
      ids: optional(
        lines({
          maxEntries: MAX_IDS,
          maxLength: MAX_ID_LENGTH,
          expects: {
            'zh-CN': `至多 ${MAX_IDS} 个标识的数组，或每行一个标识的文本；只接收与其有关的提示`,
            en: `an array of ids, or a text with one per line, at most ${MAX_IDS}: only hints of these`,
          },
          each: { 'zh-CN': '标识', en: 'an id' },
        }),
      ),
      after: optional(
        matching(/^\d{1,15}-\d{1,15}$/, {
          'zh-CN': '上一个连接最后收到的 id',
          en: 'the last `id` of the stream before',
        }),
      ),
    }),
    data: z.object({
      watcher: z.string().describe('the watcher: `token:` or `person:`, and an id'),
      account_id: z.string().describe('account whose hints are sent; empty: of all accounts'),
      domain_ids: z.array(z.string()).nullable().describe('domains to which the token is limited; null: it is not'),
      kinds: z.array(z.enum(HINT_KINDS)),
      ids: z.array(z.string()).describe('what hints are limited to; empty: they are not'),
      after: z.string().describe('where the stream goes on; empty: it begins now'),
    }),
    sample: {
      request: { kinds: ['domain', 'task'] },
      data: {
        watcher: 'token:7',
        account_id: '2',
        domain_ids: null,
        kinds: ['domain', 'task'],
        ids: [],
        after: '',
      },
    },
  }),
};
