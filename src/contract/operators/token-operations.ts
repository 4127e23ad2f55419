/** What the `/token/*` operations take and give: the tokens of the caller's own account. docs/decisions/0630 */
import * as z from 'zod';
import { identifier, integer, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import {
  MADE_TOKEN_DATA,
  NEW_TOKEN_FIELDS,
  SAMPLE_MADE_TOKEN,
  SAMPLE_TOKEN,
  scopes,
  TOKEN_DATA,
} from './token-fields.ts';

const MAX_OVERLAP_SECONDS = 7 * 24 * 3600;

export const TOKEN_OPERATIONS = {
  'token.list': operation({
    summary: {
      'zh-CN': '查询本账户的访问令牌',
      en: "Lists the access tokens of the caller's account, without the tokens themselves",
    },
    request: request({}),
    data: z.object({
      list: z.array(TOKEN_DATA),
      current: z.string().describe('token_id of the token in use; empty: a person is signed in'),
    }),
    sample: { request: {}, data: { list: [SAMPLE_TOKEN], current: '7' } },
  }),
  'token.create': operation({
    summary: {
      'zh-CN': '为本账户创建访问令牌，权限不超过当前令牌；令牌仅在本次响应中返回',
      en: "Creates an access token of the caller's account that may do no more than the one in use; only this answer shows it",
    },
    request: request({ scopes, ...NEW_TOKEN_FIELDS }),
    data: MADE_TOKEN_DATA,
    sample: {
      request: { scopes: ['cdn'], label: 'monitoring' },
      data: SAMPLE_MADE_TOKEN,
    },
  }),
  'token.rotate': operation({
    summary: {
      'zh-CN': '更换访问令牌；旧令牌在重叠时间内仍可使用，新令牌仅在本次响应中返回',
      en: 'Gives an access token a new value, which only this answer shows; the former one works for a while',
    },
    request: request({ token_id: identifier, overlap_seconds: optional(integer(0, MAX_OVERLAP_SECONDS)) }),
    data: z.object({
      ...MADE_TOKEN_DATA.shape,
      former_expires_at: z.int().describe('Unix seconds: until then the former value works'),
    }),
    sample: {
      request: { token_id: '7', overlap_seconds: 3600 },
      data: { ...SAMPLE_MADE_TOKEN, former_expires_at: 1_769_835_600 },
    },
  }),
  'token.revoke': operation({
    summary: { 'zh-CN': '吊销本账户的访问令牌', en: "Revokes an access token of the caller's account for good" },
    request: request({ token_id: identifier }),
    data: z.boolean(),
    sample: { request: { token_id: '7' }, data: true },
  }),
};
