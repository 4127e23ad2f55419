/** Requests and answers of `/config/setPolicyInfo` and `/config/getPolicyInfo`. Edge rule 4 */
import * as z from 'zod';
import { MAX_PATTERNS, MAX_POLICIES, MAX_PRIORITY } from '../../model/limits.ts';
import { POLICY_MATCHES, type PolicyMatch } from '../../model/rules.ts';
import { choice, FLAG_TEXT, flag, integer, optional, text } from '../schema/fields.ts';
import type { Locale, Localized } from '../schema/locale.ts';
import { objectList } from '../schema/members.ts';
import { changesSettings, readsSettings } from '../settings/domain-settings.ts';

export const MAX_CONTENT_LENGTH = 1024;
/** No part of a time is longer; the edge caps their sum at a year. */
const MAX_YEARS = 100;

const days = MAX_YEARS * 365;

/** Each kind of policy on the wire. `sites/policy.ts` checks whether a `content` is valid. */
export const POLICY_KINDS = {
  prefix: {
    type: 'prefix',
    named: { 'zh-CN': 'prefix（目录）', en: 'prefix (directory)' },
    content: { 'zh-CN': '以 / 开头的目录', en: 'a directory that begins with /' },
  },
  suffix: {
    type: 'suffix',
    named: { 'zh-CN': 'suffix（后缀）', en: 'suffix' },
    content: { 'zh-CN': '用逗号分隔的后缀，如 jpg,png', en: 'suffixes separated by commas, such as jpg,png' },
  },
  regex: {
    type: 'urlregex',
    named: { 'zh-CN': 'urlregex（正则表达式）', en: 'urlregex (regular expression)' },
    content: {
      'zh-CN': '至多 512 个字符、可在线性时间内执行的正则表达式',
      en: 'a regular expression of at most 512 characters that runs in linear time',
    },
  },
} as const satisfies Readonly<Record<PolicyMatch, { type: string; named: Localized; content: Localized }>>;

type PolicyType = (typeof POLICY_KINDS)[PolicyMatch]['type'];

export const PATH_TYPES = POLICY_MATCHES.map((match): PolicyType => POLICY_KINDS[match].type) as [
  PolicyType,
  ...PolicyType[],
];

export function matchOf(type: PolicyType): PolicyMatch {
  return POLICY_MATCHES[PATH_TYPES.indexOf(type)] ?? 'prefix';
}

export const PATH_TYPES_EXPECTED: Localized = {
  'zh-CN': anyOf('zh-CN', '、', '或 '),
  en: anyOf('en', ', ', ' or '),
};

/** A policy as requests have it. Missing: priority 1, times 0, both schemes. */
const POLICY = {
  is_cache: {
    ...flag,
    expects: { 'zh-CN': '0（不缓存）或 1（缓存）', en: '0 (do not cache) or 1 (cache)' },
  },
  priority: optional(integer(1, MAX_PRIORITY)),
  policy_type: choice(PATH_TYPES, PATH_TYPES_EXPECTED),
  policy_scheme: optional(
    choice(['http', 'https'], {
      'zh-CN': 'http 或 https（is_cache 为 0 时可省略）',
      en: 'http or https (may be left out when is_cache is 0)',
    }),
  ),
  content: text({ min: 1, max: MAX_CONTENT_LENGTH }),
  time_y: optional(integer(0, MAX_YEARS)),
  time_d: optional(integer(0, days)),
  time_h: optional(integer(0, days * 24)),
  time_i: optional(integer(0, days * 24 * 60)),
  time_s: optional(integer(0, days * 24 * 3600)),
};

const policies = objectList(POLICY, {
  maxEntries: MAX_POLICIES,
  expects: {
    'zh-CN': `缓存策略的数组，至多 ${MAX_POLICIES} 条，其中 urlregex 至多 ${MAX_PATTERNS} 条；use_header_setting 为 0 时至少一条`,
    en: `an array of at most ${MAX_POLICIES} cache policies, at most ${MAX_PATTERNS} of them urlregex; at least one when use_header_setting is 0`,
  },
  each: { 'zh-CN': 'JSON 对象（一条缓存策略）', en: 'a JSON object, one cache policy' },
  rule: ({ is_cache, policy_scheme }) => (is_cache && policy_scheme === undefined ? 'policy_scheme' : undefined),
  ignored: [
    {
      when: 'is_cache',
      holds: (isCached) => isCached === false,
      fields: ['time_y', 'time_d', 'time_h', 'time_i', 'time_s'],
    },
  ],
  isAllowed: (given) => given.filter(({ policy_type }) => policy_type === 'urlregex').length <= MAX_PATTERNS,
});

const POLICY_DATA = z
  .object({
    is_cache: FLAG_TEXT.describe('0 do not cache, 1 cache'),
    priority: z.int().describe('1 to 99; 99 is the highest'),
    policy_type: z.enum(PATH_TYPES),
    policy_scheme: z.enum(['http', 'https']).optional().describe('absent: both'),
    content: z.string().describe('what to match'),
    time_y: z.int().describe('cache time: years of 365 days'),
    time_d: z.int().describe('days'),
    time_h: z.int().describe('hours'),
    time_i: z.int().describe('minutes'),
    time_s: z.int().describe('seconds'),
  })
  .meta({ id: 'CachePolicy' });

const HEADER_SETTING = {
  ...flag,
  expects: {
    'zh-CN': '0（不遵循源站缓存头）或 1（遵循）',
    en: "0 (do not follow the origin's cache headers) or 1 (follow them)",
  },
};

export const POLICY_OPERATIONS = {
  'config.setPolicies': changesSettings(
    { 'zh-CN': '设置缓存策略', en: "Sets a domain's cache policies" },
    { use_header_setting: HEADER_SETTING, policy: optional(policies) },
    {
      use_header_setting: '0',
      policy: [
        { is_cache: '1', policy_type: 'suffix', policy_scheme: 'http', content: 'jpg,png', time_d: 30 },
        { is_cache: '0', policy_type: 'prefix', content: '/api/' },
      ],
    },
    ({ use_header_setting, policy = [] }) => (use_header_setting || policy.length > 0 ? undefined : 'policy'),
  ),
  'config.getPolicies': readsSettings(
    { 'zh-CN': '查询缓存策略', en: "Gets a domain's cache policies" },
    {
      use_header_setting: FLAG_TEXT.describe("1 follow the origin's cache headers, 0 do not"),
      policy: z.array(POLICY_DATA).describe('in the order in which they were set'),
    },
    {
      use_header_setting: '0',
      policy: [
        {
          ...{ is_cache: '1', priority: 1, policy_type: 'suffix', policy_scheme: 'http', content: 'jpg,png' },
          ...{ time_y: 0, time_d: 30, time_h: 0, time_i: 0, time_s: 0 },
        },
      ],
    },
  ),
};

function anyOf(locale: Locale, comma: string, or: string): string {
  const names = POLICY_MATCHES.map((match) => POLICY_KINDS[match].named[locale]);
  return names.slice(0, -1).join(comma) + or + names.at(-1);
}
