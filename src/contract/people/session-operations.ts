/** What the `/session/*` operations take and give: signing in and out, and the account in view. docs/decisions/0662 */
import * as z from 'zod';
import { accessToken, identifier } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { SAMPLE_SESSION, SESSION_DATA } from './session-fields.ts';

const NEXT = z.enum(['done', 'second']).describe('done: signed in; second: a second factor is awaited');

export const SESSION_OPERATIONS = {
  'session.begin': operation({
    summary: {
      'zh-CN': '登录：以访问令牌换取会话，会话在 Cookie 中返回',
      en: 'Signs in: exchanges an access token for a session, whose cookie comes with the answer',
    },
    request: request({ access_token: accessToken }),
    data: z.object({ next: NEXT }),
    sample: {
      request: { access_token: 'cwy_kY0n0hZ4nN0J8x0Q2t3v5w7y9A1C3E5G7I9K1M3O5Q7' },
      data: { next: 'done' },
    },
  }),
  'session.get': operation({
    summary: {
      'zh-CN': '查询当前会话：登录者、可用账户、当前账户与权限',
      en: 'Shows the session: who is signed in, the accounts, the one in view, and what is allowed there',
    },
    request: request({}),
    data: SESSION_DATA,
    sample: { request: {}, data: SAMPLE_SESSION },
  }),
  'session.use': operation({
    summary: { 'zh-CN': '选择当前账户', en: 'Chooses the account in view' },
    request: request({ account_id: identifier }),
    data: z.boolean(),
    sample: { request: { account_id: '2' }, data: true },
  }),
  'session.end': operation({
    summary: { 'zh-CN': '退出登录', en: 'Signs out' },
    request: request({}),
    data: z.boolean(),
    sample: { request: {}, data: true },
  }),
};
