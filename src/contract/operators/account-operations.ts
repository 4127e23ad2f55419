/** Limits of accounts: what the caller's own account may do, and how operators set it. docs/decisions/0633 */
import * as z from 'zod';
import { OVER_BANDWIDTH } from '../../model/account.ts';
import { choice, clearable, type Field, identifier, integer } from '../schema/fields.ts';
import type { Localized } from '../schema/locale.ts';
import { operation, request } from '../schema/operation.ts';

const MAX_RATE = 100_000;
const MAX_COUNT = 1_000_000_000;
const MAX_MBPS = 100_000_000;

/** What an empty text means. */
const NO_LIMIT: Localized = { 'zh-CN': '不限', en: 'for no limit' };
const OF_SERVICE: Localized = { 'zh-CN': '恢复为服务的设置', en: 'for that of the service' };

/** Fields that set limits. */
const LIMIT_FIELDS = {
  requests_per_second: clearable(orEmpty(integer(1, MAX_RATE), NO_LIMIT)),
  domains: clearable(orEmpty(integer(0, MAX_COUNT), OF_SERVICE)),
  purge_urls: clearable(orEmpty(integer(0, MAX_COUNT), OF_SERVICE)),
  purge_directories: clearable(orEmpty(integer(0, MAX_COUNT), OF_SERVICE)),
  prefetch_urls: clearable(orEmpty(integer(0, MAX_COUNT), OF_SERVICE)),
  bandwidth_mbps: clearable(orEmpty(integer(1, MAX_MBPS), NO_LIMIT)),
  over_bandwidth: clearable(
    orEmpty(
      choice(OVER_BANDWIDTH, {
        'zh-CN': 'nothing（仅产生事件）或 refuse（节点以 503 拒绝访问）',
        en: 'nothing (an event only) or refuse (edges answer 503)',
      }),
      { 'zh-CN': '即 nothing', en: 'for nothing' },
    ),
  ),
};

const quota = z
  .object({ limit: z.int(), used: z.int().describe('of domains: now; of others: today') })
  .meta({ id: 'Quota' });

const LIMITS_DATA = z
  .object({
    requests_per_second: z.int().describe('of all tokens together; 0: not limited'),
    domains: quota,
    purge_urls: quota,
    purge_directories: quota,
    prefetch_urls: quota,
    bandwidth_mbps: z.int().describe('to viewers, the mean of five minutes; 0: not limited'),
    over_bandwidth: z.enum(OVER_BANDWIDTH),
    over_since: z.int().describe('Unix seconds: since when it is over its bandwidth; 0: it is not'),
  })
  .meta({ id: 'AccountLimits' });

const SAMPLE_LIMITS: z.infer<typeof LIMITS_DATA> = {
  requests_per_second: 20,
  domains: { limit: 100, used: 3 },
  purge_urls: { limit: 1000, used: 20 },
  purge_directories: { limit: 100, used: 0 },
  prefetch_urls: { limit: 100, used: 0 },
  bandwidth_mbps: 500,
  over_bandwidth: 'nothing',
  over_since: 0,
};

/** An empty text is read as `null`; `meaning` says what it stands for. */
function orEmpty<S extends z.ZodType>({ schema, kind, expects, json }: Field<S>, meaning: Localized) {
  return {
    schema: z.union([z.literal('').transform(() => null), schema]),
    kind,
    expects: {
      'zh-CN': `${expects['zh-CN']}，或空（${meaning['zh-CN']}）`,
      en: `${expects.en}, or empty ${meaning.en}`,
    },
    ...(json !== undefined && { json: { anyOf: [json, { const: '' }] } }),
  } satisfies Field;
}

export const ACCOUNT_OPERATIONS = {
  'account.getLimits': operation({
    summary: {
      'zh-CN': '查询本账户的限额和用量',
      en: "Shows the limits of the caller's account, and what is used of them",
    },
    request: request({}),
    data: LIMITS_DATA,
    sample: { request: {}, data: SAMPLE_LIMITS },
  }),
  'operator.getAccountLimits': operation({
    summary: { 'zh-CN': '查询账户的限额和用量', en: 'Shows the limits of an account, and what is used of them' },
    request: request({ account_id: identifier }),
    data: LIMITS_DATA,
    sample: { request: { account_id: '2' }, data: SAMPLE_LIMITS },
  }),
  'operator.setAccountLimits': operation({
    summary: { 'zh-CN': '设置账户的限额', en: 'Sets limits of an account instead of those of the service' },
    request: request({ account_id: identifier, ...LIMIT_FIELDS }),
    data: z.boolean(),
    sample: { request: { account_id: '2', domains: 100, bandwidth_mbps: 500 }, data: true },
  }),
};
