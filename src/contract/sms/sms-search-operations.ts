/** Operations that search an account's messages, count them, and tell what became of one. docs/decisions/0678, 0679 */
import * as z from 'zod';
import { PART_STATES } from '../../model/sms-part.ts';
import { TIME_LINE_KINDS } from '../../model/sms-time-line.ts';
import { MAX_PAGE_SIZE } from '../domains/list-fields.ts';
import { MILLISECONDS } from '../schema/amount-fields.ts';
import { choices, integer, matching, optional, text, unixTime } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { appKey, KIND_DATA, mobile } from './sms-fields.ts';

const MAX_SENDID_LENGTH = 64;
const SUM_KEYS = ['day', 'app', 'status'] as const;

const status = choices(PART_STATES, {
  'zh-CN': `状态的列表，取自 ${PART_STATES.join('、')}，如 ["failed", "expired"]`,
  en: `a list of states among ${PART_STATES.join(', ')}, such as ["failed", "expired"]`,
});
const cursor = matching(/^\d{1,16}\.\d{1,16}$/, {
  'zh-CN': '上一次响应中的 next',
  en: '`next` of the answer before',
});
const PERIOD = { from: optional(unixTime), to: optional(unixTime) };
const STATE_DATA = z.enum(PART_STATES);
const APP_KEY_DATA = z.string().describe('SMS service that sent it');

const SAMPLE_KEY = 'sms_Vn2rT8wq0Zb5yLkC';
const SAMPLE_SENDID = '17698320000001234567';
const SAMPLE_AT = 1_769_832_000_000;

export const SMS_SEARCH_OPERATIONS = {
  'sms.find': operation({
    summary: {
      'zh-CN': '按号码、状态、服务和时间查询短信，新的在前',
      en: 'Finds messages by number, state, service and time, the newest first',
    },
    request: request({
      mobile: optional(mobile),
      status: optional(status),
      app_key: optional(appKey),
      ...PERIOD,
      cursor: optional(cursor),
      page_size: optional(integer(1, MAX_PAGE_SIZE)),
    }),
    data: z.object({
      list: z.array(
        z.object({
          sendid: z.string(),
          app_key: APP_KEY_DATA,
          kind: KIND_DATA,
          mobile: z.string().describe('+ and digits'),
          status: STATE_DATA.describe('the status of the message, made from its parts'),
          parts: z.int(),
          price: z.int().describe('price of all parts, as held at acceptance'),
          created_at: MILLISECONDS.describe('acceptance in Unix milliseconds'),
        }),
      ),
      next: z.string().describe('give it as `cursor` to go on; empty: everything was looked at'),
      searched_until: MILLISECONDS.describe(
        'acceptance of the last message that was looked at, in Unix milliseconds; 0 with an empty `next`',
      ),
    }),
    sample: {
      request: { mobile: '13800138000', page_size: 20 },
      data: {
        list: [
          {
            sendid: SAMPLE_SENDID,
            app_key: SAMPLE_KEY,
            kind: 'ordinary',
            mobile: '+8613800138000',
            status: 'failed',
            parts: 1,
            price: 1,
            created_at: SAMPLE_AT,
          },
        ],
        next: '',
        searched_until: 0,
      },
    },
  }),
  'sms.getMessage': operation({
    summary: {
      'zh-CN': '查询一条短信各部分的经过，不含内容',
      en: 'Shows what happened to each part of a message, without its text',
    },
    request: request({ sendid: text({ min: 1, max: MAX_SENDID_LENGTH }), mobile }),
    data: z.object({
      sendid: z.string(),
      app_key: APP_KEY_DATA,
      kind: KIND_DATA,
      mobile: z.string().describe('+ and digits'),
      status: STATE_DATA.describe('the status of the message, made from its parts'),
      price: z.int().describe('price of each part'),
      created_at: MILLISECONDS.describe('acceptance in Unix milliseconds'),
      parts: z.array(
        z.object({
          part: z.int().describe('from 1'),
          status: STATE_DATA,
          events: z
            .array(
              z.object({
                at: MILLISECONDS.describe('Unix milliseconds'),
                kind: z
                  .enum(TIME_LINE_KINDS)
                  .describe('what happened; due: it waits until then; refused, postponed, lost: the end of a try'),
                connector: z.string().describe('connector that had the part; empty: none, or it was deleted'),
                carrier_id: z.string().describe("the carrier's id, with `submitted`; empty: none"),
                error: z.string().describe('why, for programs; empty: no error'),
                word: z.string().describe("status word of the carrier's receipt, unchanged; empty: no receipt"),
                text: z.string().describe('why, in the language of the request; empty: nothing is known of it'),
              }),
            )
            .describe('in order of time'),
        }),
      ),
    }),
    sample: {
      request: { sendid: SAMPLE_SENDID, mobile: '13800138000' },
      data: {
        sendid: SAMPLE_SENDID,
        app_key: SAMPLE_KEY,
        kind: 'ordinary',
        mobile: '+8613800138000',
        status: 'failed',
        price: 1,
        created_at: SAMPLE_AT,
        parts: [
          {
            part: 1,
            status: 'failed',
            events: [
              { at: SAMPLE_AT, kind: 'accepted', connector: '', carrier_id: '', error: '', word: '', text: '' },
              {
                ...{ at: SAMPLE_AT + 12, kind: 'submitted', connector: 'carrier', carrier_id: '5f0c1a' },
                ...{ error: '', word: '', text: '' },
              },
              {
                ...{ at: SAMPLE_AT + 4000, kind: 'failed', connector: 'carrier', carrier_id: '' },
                ...{ error: 'UNDELIV/027', word: 'UNDELIV/027', text: 'the carrier could not deliver it' },
              },
            ],
          },
        ],
      },
    },
  }),
  'sms.statistics': operation({
    summary: {
      'zh-CN': '按天、服务和状态统计短信',
      en: 'Counts messages by day, service and status',
    },
    request: request({
      app_key: optional(appKey),
      ...PERIOD,
      by: optional(
        choices(SUM_KEYS, {
          'zh-CN': 'day（天）、app（服务）和 status（状态）的列表；默认 ["day", "status"]',
          en: 'a list of day, app and status; by default ["day", "status"]',
        }),
      ),
    }),
    data: z.object({
      list: z.array(
        z.object({
          day: z.string().describe("YYYY-MM-DD in the service's time zone; empty: not by day"),
          app_key: z.string().describe('empty: not by service'),
          status: z.enum(['', ...PART_STATES]).describe('state of the parts; empty: not by status'),
          messages: z.int().describe('messages, by the state of their first part'),
          parts: z.int(),
          price: z.int().describe('price of the parts, as held at acceptance'),
        }),
      ),
      from: MILLISECONDS.describe('beginning of the period that is counted, in Unix milliseconds'),
      to: MILLISECONDS.describe('its end, inclusive'),
      is_complete: z
        .boolean()
        .describe('false: older messages than `from` were not counted; ask again with `to` = `from` - 1'),
    }),
    sample: {
      request: { by: ['day', 'status'] },
      data: {
        list: [{ day: '2026-01-31', app_key: '', status: 'delivered', messages: 10, parts: 12, price: 12 }],
        from: 1_769_745_600_000,
        to: 1_769_831_999_000,
        is_complete: true,
      },
    },
  }),
};
