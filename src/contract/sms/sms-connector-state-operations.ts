/** What operators see of connectors while they work, and what becomes of a number. docs/decisions/0681 */
import * as z from 'zod';
import { CURRENCY_DATA, MILLISECONDS, SAMPLE_CURRENCY } from '../schema/amount-fields.ts';
import { choice, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { CONNECTOR_CHOICES } from './sms-connector-fields.ts';
import { KIND_DATA, mobile } from './sms-fields.ts';

export const SMS_CONNECTOR_STATE_OPERATIONS = {
  'smsOperator.listStates': operation({
    summary: {
      'zh-CN': '查询各通道的当前状态：会话、速率、窗口、排队和最近一小时的错误',
      en: 'Shows how connectors are now: sessions, rate, window, queue and the errors of the last hour',
    },
    request: request({}),
    data: z.object({
      list: z.array(
        z.object({
          name: z.string(),
          kind: z.enum(CONNECTOR_CHOICES.kind),
          state: z
            .enum(['up', 'partial', 'down', 'disabled'])
            .describe('up: a session sends and receives; partial: one does either; down: none'),
          rate_limit: z.number().describe('parts a second at most, of all sessions; 0: no limit'),
          window: z.int().describe('parts in flight at most, of all sessions; 0: no limit'),
          rate: z.number().describe('parts sent a second, over the last 10 s'),
          in_flight: z.int().describe('parts in flight'),
          misconfigured: z
            .string()
            .describe(
              'code with which the carrier refuses every part for the settings; the connector rests; empty: none',
            ),
          misconfigured_text: z
            .string()
            .describe('the same in the language of the request; empty: nothing is known of it'),
          queued: z.int().describe('parts that wait in routes with the connector; at most 100000 are counted'),
          sessions: z
            .array(
              z.object({
                control: z.string().describe('beginning of the id of the control that has it; empty on SQLite'),
                state: z
                  .enum(['connecting', 'bound', 'paused', 'closed'])
                  .describe('paused: the carrier is throttling, or the connector rests'),
                sends_since: MILLISECONDS.describe('since when it can send, in Unix milliseconds; 0: it cannot'),
                receives_since: MILLISECONDS.describe('since when receipts can arrive; 0: they cannot'),
                rate: z.number(),
                in_flight: z.int(),
              }),
            )
            .describe('open sessions, as of the last 3 s'),
          errors: z
            .array(
              z.object({
                code: z.string().describe('as in `error` of a part'),
                from: z.enum(['submit', 'receipt']).describe('answer to sending, or a receipt'),
                count: z.int(),
                text: z.string().describe('in the language of the request; empty: nothing is known of it'),
              }),
            )
            .describe('the 20 most frequent of the last hour'),
        }),
      ),
      errors_since: MILLISECONDS.describe(
        'since when errors are counted, in Unix milliseconds: an hour ago, or later if there are more than 20000',
      ),
    }),
    sample: {
      request: {},
      data: {
        list: [
          {
            ...{ name: 'carrier', kind: 'smpp', state: 'up', rate_limit: 100, window: 50 },
            ...{ rate: 42.5, in_flight: 7, queued: 120, misconfigured: '', misconfigured_text: '' },
            sessions: [
              {
                ...{ control: '3f2a9c01', state: 'bound', rate: 42.5, in_flight: 7 },
                ...{ sends_since: 1_769_832_000_000, receives_since: 1_769_832_000_000 },
              },
            ],
            errors: [{ code: '0x00000058', from: 'submit', count: 3, text: "the carrier's rate limit was exceeded" }],
          },
        ],
        errors_since: 1_769_828_400_000,
      },
    },
  }),
  'smsOperator.testNumber': operation({
    summary: {
      'zh-CN': '查询一个号码适用的单价和路由（最长前缀）',
      en: 'Shows the price and the route of a number, by the longest prefix',
    },
    request: request({
      mobile,
      kind: optional(
        choice(['ordinary', 'advertising'], {
          'zh-CN': 'ordinary（默认，普通）或 advertising（营销）',
          en: 'ordinary (the default) or advertising',
        }),
      ),
    }),
    data: z.object({
      mobile: z.string().describe('+ and digits'),
      kind: KIND_DATA,
      price: z.int().describe('price of a part'),
      price_prefix: z.string().describe('prefix that the price is set for; empty: all numbers'),
      ...CURRENCY_DATA,
      route_prefix: z.string().describe('prefix of the route; empty: all other numbers, or there is none'),
      connectors: z.array(z.string()).describe('connectors of the route, the preferred first; empty: it waits'),
    }),
    sample: {
      request: { mobile: '+85261234567' },
      data: {
        ...{ mobile: '+85261234567', kind: 'ordinary', price: 8, price_prefix: '+852', ...SAMPLE_CURRENCY },
        ...{ route_prefix: '', connectors: ['loopback'] },
      },
    },
  }),
};
