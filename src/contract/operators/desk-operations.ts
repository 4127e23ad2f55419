/** What operators see of an account, of the health of this machine, and of the settings in force. docs/decisions/0682 */
import * as z from 'zod';
import { CURRENCY_DATA, LEDGER_ENTRY, MILLISECONDS, SAMPLE_CURRENCY, SAMPLE_ENTRY } from '../schema/amount-fields.ts';
import { identifier } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { ACCOUNT_DATA, SAMPLE_ACCOUNT } from './account-data.ts';

const figure = (meaning: string) => z.number().optional().describe(`${meaning}; absent: not known`);

const HEALTH = z.object({
  at: MILLISECONDS.describe('when the figures were read, in Unix milliseconds; 0: the service did not answer'),
  parts: z
    .array(
      z.object({
        part: z.string().describe('process of this machine, such as control or edge-worker-1'),
        up: z.boolean().describe('whether it is ready'),
        restarts: z.int().describe('restarts after it died, since the service was started'),
      }),
    )
    .describe('processes of the machine whose control answers'),
  feed: z.object({
    head_revision: figure('newest revision of the settings'),
    applied_revision: figure('revision that every worker of this machine runs'),
    connected_edges: figure('edges that follow the feed of this control'),
    rejected: figure('settings that this machine cannot apply'),
  }),
  logs: z.object({
    waiting_files: figure('finished access-log files that are not shipped yet'),
    shipped_files: figure('access-log files shipped since the start'),
    lost_lines: figure('lines of the own log that were lost since the start'),
  }),
  database: z.object({
    engine: z.enum(['sqlite', 'postgres']),
    bytes: figure('size of the database'),
    clock_ahead_seconds: figure('how far the clock of the machine is ahead of that of the database'),
    is_synchronous: z.boolean().optional().describe('whether a standby has each commit; absent: not known'),
  }),
  controls: z
    .array(
      z.object({
        control: z.string().describe('beginning of its id'),
        build: z.string(),
        seen_at: MILLISECONDS.describe('Unix milliseconds'),
      }),
    )
    .describe('controls that share the database; empty on SQLite'),
  certificates: z.object({
    expired: figure('certificates of domains that have ended'),
    within_7_days: figure('those that end within 7 days'),
    within_14_days: figure('those that end within 8 to 14 days'),
    within_30_days: figure('those that end within 15 to 30 days'),
    first_ends_in_seconds: figure('how long the first of them is still valid; negative: it has ended'),
  }),
  sms: z
    .array(
      z.object({
        state: z.string().describe('queued, uncertain or submitted'),
        parts: z.int().describe('parts that wait; at most 100000 are counted'),
        oldest_seconds: z.number().describe('how long the oldest of them has waited'),
      }),
    )
    .describe('parts of SMS that wait'),
});

export const DESK_OPERATIONS = {
  'operator.getAccount': operation({
    summary: {
      'zh-CN': '查询一个账户的概况：域名、令牌、短信服务、余额和最近的流水',
      en: 'Shows an account: its domains, tokens, SMS services, balance and latest ledger entries',
    },
    request: request({ account_id: identifier }),
    data: ACCOUNT_DATA.extend({
      domain_states: z
        .object({ pending: z.int(), open: z.int(), closed: z.int(), rejected: z.int(), disabled: z.int() })
        .describe('domains in each state'),
      token_used_at: MILLISECONDS.describe('last use of one of its tokens, in Unix milliseconds; 0: never'),
      sms_apps: z
        .array(
          z.object({
            app_key: z.string(),
            name: z.string(),
            status: z.union([z.literal(0), z.literal(1)]).describe('0 disabled, 1 available'),
          }),
        )
        .describe('the first 100 SMS services'),
      ledger: z.array(LEDGER_ENTRY).optional().describe('the last 10 entries; only with the access `money`'),
      ...CURRENCY_DATA,
    }).meta({ id: 'AccountOverview' }),
    sample: {
      request: { account_id: '2' },
      data: {
        ...SAMPLE_ACCOUNT,
        domain_states: { pending: 1, open: 11, closed: 0, rejected: 0, disabled: 0 },
        token_used_at: 1_769_832_000_000,
        sms_apps: [{ app_key: 'sms_Vn2rT8wq0Zb5yLkC', name: 'shop', status: 1 }],
        ledger: [SAMPLE_ENTRY],
        ...SAMPLE_CURRENCY,
      },
    },
  }),
  'operator.getHealth': operation({
    summary: {
      'zh-CN': '查询本机的运行状况：进程、配置下发、日志、数据库、证书和短信队列',
      en: 'Shows the health of this machine: processes, feed, logs, database, certificates and the SMS queue',
    },
    request: request({}),
    data: HEALTH,
    sample: {
      request: {},
      data: {
        at: 1_769_832_000_000,
        parts: [{ part: 'control', up: true, restarts: 0 }],
        feed: { head_revision: 71, applied_revision: 71, connected_edges: 1, rejected: 0 },
        logs: { waiting_files: 0, shipped_files: 12, lost_lines: 0 },
        database: { engine: 'sqlite', bytes: 1_048_576 },
        controls: [],
        certificates: {
          ...{ expired: 0, within_7_days: 0, within_14_days: 1, within_30_days: 0 },
          first_ends_in_seconds: 864_000,
        },
        sms: [{ state: 'queued', parts: 0, oldest_seconds: 0 }],
      },
    },
  }),
  'operator.getSettings': operation({
    summary: {
      'zh-CN': '查询生效的设置及其来源，不含密码',
      en: 'Lists the settings in force and where each comes from, without secrets',
    },
    request: request({}),
    data: z.object({
      list: z
        .array(
          z.object({
            name: z.string(),
            value: z.string().describe('as it was written; empty for a secret, and if it is not set'),
            state: z.enum(['shown', 'hidden', 'unset']).describe('hidden: a secret that is set'),
            source: z.string().describe('default, a file, an environment variable or a flag'),
          }),
        )
        .describe('settings with which the control that answers was started'),
    }),
    sample: {
      request: {},
      data: {
        list: [
          { name: 'control-listen', value: '127.0.0.1:8700', state: 'shown', source: 'default' },
          { name: 'database-url', value: '', state: 'hidden', source: 'DATABASE_URL' },
        ],
      },
    },
  }),
};
