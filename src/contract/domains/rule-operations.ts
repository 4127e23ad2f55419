/** Lists of rules that a customer orders himself: each is replaced as a whole, and read back as it was set. */
import * as z from 'zod';
import {
  MAX_HEADER_NAME_CHARS,
  MAX_HEADER_VALUE_CHARS,
  MAX_LIMIT_REQUESTS,
  MAX_LIMIT_SECONDS,
  MAX_REDIRECT_CHARS,
  MAX_RULES,
} from '../../model/limits.ts';
import { HEADER_ACTIONS } from '../../model/rules.ts';
import { choice, clearable, FLAG_TEXT, flag, integer, optional, text } from '../schema/fields.ts';
import type { Localized } from '../schema/locale.ts';
import { objectList } from '../schema/members.ts';
import { changesSettings, readsSettings } from '../settings/domain-settings.ts';
import { PATH_DATA, PATH_FIELDS } from './path-fields.ts';

const SAMPLE_LIMIT = { path_type: 'prefix', path: '/login', requests: 10, seconds: 60, burst: 5 } as const;

const limits = objectList(
  {
    ...PATH_FIELDS,
    requests: integer(1, MAX_LIMIT_REQUESTS),
    seconds: integer(1, MAX_LIMIT_SECONDS),
    burst: optional(integer(1, MAX_LIMIT_REQUESTS)),
  },
  listWords({ 'zh-CN': '访问频率限制', en: 'rate limits' }, { 'zh-CN': '一条频率限制', en: 'one rate limit' }),
);

const SAMPLE_REDIRECT = {
  path_type: 'prefix',
  path: '/old/',
  target: 'https://www.example.com/new/',
  status: '301',
  keep_query: '1',
} as const;

/** What a target has to be. */
export const REDIRECT_TARGET: Localized = {
  'zh-CN': `以 http:// 或 https:// 开头、不含用户名的网址，或以 / 开头的路径，至多 ${MAX_REDIRECT_CHARS} 个字符`,
  en: `a URL that begins with http:// or https://, without a user name, or a path that begins with /, at most ${MAX_REDIRECT_CHARS} characters`,
};

const redirects = objectList(
  {
    ...PATH_FIELDS,
    target: { ...text({ min: 1, max: MAX_REDIRECT_CHARS }), expects: REDIRECT_TARGET },
    status: optional(
      choice(['301', '302', '307', '308'], { 'zh-CN': '301、302、307 或 308', en: '301, 302, 307 or 308' }),
    ),
    keep_query: optional(flag),
  },
  listWords({ 'zh-CN': '重定向规则', en: 'redirects' }, { 'zh-CN': '一条重定向规则', en: 'one redirect' }),
);

const SAMPLE_HEADER = { action: 'set', name: 'Access-Control-Allow-Origin', value: '*' } as const;

export const HEADER_NAME: Localized = {
  'zh-CN': `响应头的名称（至多 ${MAX_HEADER_NAME_CHARS} 个字符），且不是由本服务自行设置的`,
  en: `a name of a header field, at most ${MAX_HEADER_NAME_CHARS} characters, that the service does not set itself`,
};
export const HEADER_VALUE: Localized = {
  'zh-CN': `1 到 ${MAX_HEADER_VALUE_CHARS} 个可打印的 ASCII 字符，首尾不含空格；action 为 remove 时可省略`,
  en: `1 to ${MAX_HEADER_VALUE_CHARS} printable ASCII characters without blanks at either end; may be left out when action is remove`,
};

const headers = objectList(
  {
    action: choice(HEADER_ACTIONS, {
      'zh-CN': 'set（设置）、add（添加）或 remove（删除）',
      en: 'set (replace the field), add (add another one) or remove',
    }),
    name: { ...text({ min: 1, max: MAX_HEADER_NAME_CHARS }), expects: HEADER_NAME },
    value: clearable({ ...text({ max: MAX_HEADER_VALUE_CHARS }), expects: HEADER_VALUE }),
  },
  listWords({ 'zh-CN': '响应头规则', en: 'changes of header fields' }, { 'zh-CN': '一条响应头规则', en: 'one change' }),
);

export const RULE_OPERATIONS = {
  'config.setRedirects': changesSettings(
    { 'zh-CN': '设置重定向规则', en: "Sets a domain's redirects" },
    { redirects },
    { redirects: [SAMPLE_REDIRECT] },
  ),
  'config.getRedirects': readsSettings(
    { 'zh-CN': '查询重定向规则', en: "Gets a domain's redirects" },
    {
      redirects: z
        .array(
          z
            .object({
              ...PATH_DATA,
              target: z.string().describe('URL, or path of the same host'),
              status: z.enum(['301', '302', '307', '308']),
              keep_query: FLAG_TEXT.describe("1: the request's query is appended to the target"),
            })
            .meta({ id: 'Redirect' }),
        )
        .describe('in the order in which they were set: the first whose path matches decides'),
    },
    { redirects: [SAMPLE_REDIRECT] },
  ),
  'config.setResponseHeaders': changesSettings(
    { 'zh-CN': '设置响应头规则', en: "Sets how a domain's answers have their header fields changed" },
    { headers },
    { headers: [SAMPLE_HEADER] },
  ),
  'config.getResponseHeaders': readsSettings(
    { 'zh-CN': '查询响应头规则', en: "Gets how a domain's answers have their header fields changed" },
    {
      headers: z
        .array(
          z
            .object({
              action: z.enum(HEADER_ACTIONS),
              name: z.string(),
              value: z.string().describe('empty with remove'),
            })
            .meta({ id: 'HeaderChange' }),
        )
        .describe('applied in the order in which they were set'),
    },
    { headers: [SAMPLE_HEADER] },
  ),
  'config.setRateLimits': changesSettings(
    { 'zh-CN': '设置访问频率限制', en: "Sets a domain's rate limits" },
    { limits },
    { limits: [SAMPLE_LIMIT] },
  ),
  'config.getRateLimits': readsSettings(
    { 'zh-CN': '查询访问频率限制', en: "Gets a domain's rate limits" },
    {
      limits: z
        .array(
          z
            .object({
              ...PATH_DATA,
              requests: z.int().describe('requests that a client may make'),
              seconds: z.int().describe('in so many seconds'),
              burst: z.int().describe('requests that it may make at once'),
            })
            .meta({ id: 'RateLimit' }),
        )
        .describe('in the order in which they were set: the first whose path matches counts'),
    },
    { limits: [SAMPLE_LIMIT] },
  ),
};

function listWords(called: Localized, each: Localized) {
  return {
    maxEntries: MAX_RULES,
    expects: {
      'zh-CN': `${called['zh-CN']}的数组，至多 ${MAX_RULES} 条；空数组表示没有`,
      en: `an array of at most ${MAX_RULES} ${called.en}; an empty one for none`,
    },
    each: { 'zh-CN': `JSON 对象（${each['zh-CN']}）`, en: `a JSON object, ${each.en}` },
  };
}
