/** What the `/config/*` operations take and give. */
import * as z from 'zod';
import { MAX_STALE_CAP_SECONDS, YEAR_SECONDS } from '../model/limits.ts';
import { choice, FLAG_TEXT, flag, identifier, integer, optional } from './fields.ts';
import { operation, request } from './operation.ts';
import { IF_REVISION, REVISION_DATA, SAMPLE_REVISION } from './revision-fields.ts';

const SET_COOKIE_WORDS = ['bypass', 'store', 'strip'] as const;

export const CONFIG_OPERATIONS = {
  'config.setCacheOptions': operation({
    summary: { 'zh-CN': '设置缓存选项', en: "Sets a domain's cache options" },
    request: request({
      domain_id: identifier,
      set_cookie: optional(
        choice(SET_COOKIE_WORDS, {
          'zh-CN':
            'bypass（带 Set-Cookie 的响应不缓存）、store（有明确有效期时连同 Cookie 缓存）或 strip（去掉 Cookie 后缓存）',
          en: 'bypass (a response with Set-Cookie is not stored), store (stored with it when its freshness is explicit) or strip (stored without it)',
        }),
      ),
      request_directives: optional(flag),
      heuristic_cap: optional(upTo(YEAR_SECONDS)),
      stale_cap: optional(upTo(MAX_STALE_CAP_SECONDS)),
      normalize_vary: optional(flag),
      match_language: optional(flag),
      ...IF_REVISION,
    }),
    data: z.boolean().describe('true when it was done'),
    sample: { request: { domain_id: '1001', set_cookie: 'strip', heuristic_cap: 600 }, data: true },
  }),
  'config.getCacheOptions': operation({
    summary: { 'zh-CN': '查询缓存选项', en: "Gets a domain's cache options" },
    request: request({ domain_id: identifier }),
    data: z.object({
      ...REVISION_DATA,
      set_cookie: z.enum(SET_COOKIE_WORDS).describe('what becomes of a response with Set-Cookie'),
      request_directives: FLAG_TEXT.describe("whether a viewer's own no-cache, no-store, max-age and min-fresh count"),
      heuristic_cap: z.string().describe('longest lifetime without an explicit one, in seconds; 0: none'),
      stale_cap: z
        .string()
        .describe('how long past its expiry a response may stand in for an origin that cannot be reached, in seconds'),
      normalize_vary: FLAG_TEXT.describe('whether values of varying headers that mean the same are one variant'),
      match_language: FLAG_TEXT.describe("whether a stored response in the viewer's preferred language is enough"),
    }),
    sample: {
      request: { domain_id: '1001' },
      data: {
        revision: SAMPLE_REVISION,
        set_cookie: 'strip',
        request_directives: '0',
        heuristic_cap: '600',
        stale_cap: '86400',
        normalize_vary: '1',
        match_language: '0',
      },
    },
  }),
};

function upTo(maxSeconds: number) {
  return {
    ...integer(0, maxSeconds),
    expects: { 'zh-CN': `0 到 ${maxSeconds} 的秒数`, en: `a whole number of seconds, from 0 to ${maxSeconds}` },
  };
}
