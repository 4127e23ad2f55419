/** Operations by which an account tries the webhook of an SMS service, and sees what was posted to it. docs/decisions/0680 */
import * as z from 'zod';
import { DELIVERY_EVENTS, DELIVERY_OUTCOMES } from '../../model/webhook.ts';
import { MILLISECONDS } from '../schema/amount-fields.ts';
import { operation, request } from '../schema/operation.ts';
import { POST_ANSWER } from '../schema/post-answer.ts';
import { appKey } from './sms-fields.ts';

const SAMPLE_KEY = 'sms_Vn2rT8wq0Zb5yLkC';

export const SMS_WEBHOOK_OPERATIONS = {
  'sms.testWebhook': operation({
    summary: {
      'zh-CN': '立即向推送地址发送一条测试消息，并返回其应答',
      en: 'Posts a test to the webhook at once, and shows its answer',
    },
    request: request({ app_key: appKey }),
    data: POST_ANSWER,
    sample: {
      request: { app_key: SAMPLE_KEY },
      data: { status: 204, reason: '', took_ms: 41, answer: '' },
    },
  }),
  'sms.listDeliveries': operation({
    summary: {
      'zh-CN': '查询最近 100 次推送及其应答，新的在前',
      en: 'Lists the last 100 attempts to post to the webhook with their answers, the newest first',
    },
    request: request({ app_key: appKey }),
    data: z.object({
      waiting: z.int().describe('deliveries that wait to be posted; at most 10000 are counted'),
      list: z.array(
        z.object({
          delivery_id: z.string().describe('as in the header x-causeway-delivery; 0: a test'),
          event: z.enum(DELIVERY_EVENTS),
          sendid: z.string().describe('message of a receipt; empty: another event'),
          at: MILLISECONDS.describe('Unix milliseconds'),
          tries: z.int().describe('attempts of this delivery until then, this one included'),
          outcome: z.enum(DELIVERY_OUTCOMES),
          ...POST_ANSWER.shape,
        }),
      ),
    }),
    sample: {
      request: { app_key: SAMPLE_KEY },
      data: {
        waiting: 0,
        list: [
          {
            delivery_id: '71',
            event: 'receipt',
            sendid: '17698320000001234567',
            at: 1_769_832_004_000,
            tries: 2,
            outcome: 'retry',
            ...{ status: 500, reason: '', took_ms: 35, answer: 'database is locked' },
          },
        ],
      },
    },
  }),
};
