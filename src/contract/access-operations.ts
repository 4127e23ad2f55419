/** What the operations of the referer, User-Agent and IP rules take and give. Edge rule 6, docs/decisions/0101, 0102 */
import * as z from 'zod';
import { MAX_ACCESS_ENTRIES } from '../model/limits.ts';
import { changesSettings, readsSettings } from './domain-settings.ts';
import { choice, commaList, FLAG_TEXT, flag, optional } from './fields.ts';

/** Entries as written, before equal ones are merged. */
const MAX_ADDRESSES_WRITTEN = 1000;

const MAX_REFERER_LENGTH = 1024;
const MAX_USER_AGENT_LENGTH = 256;
const MAX_ADDRESS_LENGTH = 64;

export const REFERER_LIST = commaList({
  maxEntries: MAX_ACCESS_ENTRIES,
  maxLength: MAX_REFERER_LENGTH,
  expects: {
    'zh-CN': `1 到 ${MAX_ACCESS_ENTRIES} 个不重复的域名，用逗号分隔或为数组；referer_type 为 0 或已保存过列表时可省略`,
    en: `1 to ${MAX_ACCESS_ENTRIES} domains without duplicates, comma-separated or an array; may be left out when referer_type is 0 or a list is stored`,
  },
  each: {
    'zh-CN': '域名（如 example.com 或 *.example.com，可带端口）、IP 或 *',
    en: 'a domain such as example.com or *.example.com, perhaps with a port, an IP address, or *',
  },
});

export const USER_AGENT_LIST = commaList({
  maxEntries: MAX_ACCESS_ENTRIES,
  maxLength: MAX_USER_AGENT_LENGTH,
  expects: {
    'zh-CN': `1 到 ${MAX_ACCESS_ENTRIES} 个不重复的 User-Agent，每个至多 ${MAX_USER_AGENT_LENGTH} 个字符且不含逗号，用逗号分隔或为数组；ua_control 为 0 或已保存过列表时可省略`,
    en: `1 to ${MAX_ACCESS_ENTRIES} User-Agents without duplicates, each at most ${MAX_USER_AGENT_LENGTH} characters without a comma, comma-separated or an array; may be left out when ua_control is 0 or a list is stored`,
  },
  each: {
    'zh-CN': `User-Agent 或其一部分，至多 ${MAX_USER_AGENT_LENGTH} 个字符且不含逗号`,
    en: `a User-Agent or part of one, of at most ${MAX_USER_AGENT_LENGTH} characters without a comma`,
  },
});

export const ADDRESS_LIST = commaList({
  maxEntries: MAX_ADDRESSES_WRITTEN,
  maxLength: MAX_ADDRESS_LENGTH,
  expects: {
    'zh-CN': `1 到 ${MAX_ACCESS_ENTRIES} 个不同的 IP 或网段（如 192.0.2.0/24），用逗号分隔或为数组；ip_type 为 0 或已保存过列表时可省略`,
    en: `1 to ${MAX_ACCESS_ENTRIES} different IP addresses or networks such as 192.0.2.0/24, comma-separated or an array; may be left out when ip_type is 0 or a list is stored`,
  },
  each: {
    'zh-CN': 'IP 或网段，如 192.0.2.1、192.0.2.0/24、2001:db8::/32',
    en: 'an IP address or a network, such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32',
  },
});

const SAMPLE_REFERER = {
  referer_type: '2',
  referer_blank: '1',
  referer_str: 'example.com,*.example.net',
} as const;

export const ACCESS_OPERATIONS = {
  'config.setReferer': changesSettings(
    { 'zh-CN': '设置 Referer 防盗链', en: "Sets a domain's referer rule" },
    {
      referer_type: choice(['0', '1', '2'], {
        'zh-CN': '0（关闭）、1（黑名单）或 2（白名单）',
        en: '0 (off), 1 (blacklist) or 2 (whitelist)',
      }),
      referer_blank: optional({
        ...flag,
        expects: {
          'zh-CN': '0（禁止空 Referer）或 1（允许空 Referer）；referer_type 为 0 或已保存过列表时可省略',
          en: '0 (forbid an empty referer) or 1 (allow it); may be left out when referer_type is 0 or a list is stored',
        },
      }),
      referer_str: optional(REFERER_LIST),
    },
    SAMPLE_REFERER,
    // Omitted, here and below, it may be stored: only the handler can tell. docs/decisions/0102
    ({ referer_type, referer_str }) => (referer_type !== '0' && isEmpty(referer_str) ? 'referer_str' : undefined),
    [{ when: 'referer_type', holds: (type) => type === '0', fields: ['referer_blank', 'referer_str'] }],
  ),
  'config.setUserAgent': changesSettings(
    { 'zh-CN': '设置 User-Agent 黑名单', en: "Sets a domain's User-Agent rule" },
    { ua_control: flag, ua_str: optional(USER_AGENT_LIST) },
    { ua_control: '1', ua_str: 'curl,*bot*' },
    ({ ua_control, ua_str }) => (ua_control && isEmpty(ua_str) ? 'ua_str' : undefined),
    [{ when: 'ua_control', holds: (isOn) => isOn === false, fields: ['ua_str'] }],
  ),
  'config.setIp': changesSettings(
    { 'zh-CN': '设置 IP 黑名单', en: "Sets a domain's IP access rule" },
    {
      ip_type: choice(['0', '1'], { 'zh-CN': '0（关闭）或 1（黑名单）', en: '0 (off) or 1 (blacklist)' }),
      ip_str: optional(ADDRESS_LIST),
    },
    { ip_type: 1, ip_str: '192.0.2.1,2001:db8::/32' },
    ({ ip_type, ip_str }) => (ip_type === '1' && isEmpty(ip_str) ? 'ip_str' : undefined),
    [{ when: 'ip_type', holds: (type) => type === '0', fields: ['ip_str'] }],
  ),
  'config.getReferer': readsSettings(
    { 'zh-CN': '查询 Referer 防盗链', en: "Gets a domain's referer rule" },
    {
      referer_type: z.enum(['0', '1', '2']).describe('0 off, 1 blacklist, 2 whitelist'),
      referer_blank: FLAG_TEXT.describe('for an empty referer 0 forbid, 1 allow'),
      referer_str: z.string().describe('domains, comma-separated; kept while the rule is off'),
    },
    SAMPLE_REFERER,
  ),
  'config.getUserAgent': readsSettings(
    { 'zh-CN': '查询 User-Agent 黑名单', en: "Gets a domain's User-Agent rule" },
    {
      ua_control: FLAG_TEXT.describe('0 off, 1 on'),
      ua_str: z.string().describe('User-Agents, comma-separated; kept while the rule is off'),
    },
    { ua_control: '1', ua_str: 'curl,*bot*' },
  ),
  'config.getIp': readsSettings(
    { 'zh-CN': '查询 IP 黑名单', en: "Gets a domain's IP access rule" },
    {
      ip_type: z.int().describe('0 off, 1 blacklist'),
      ip_str: z.string().describe('addresses and networks, comma-separated; kept while the rule is off'),
    },
    { ip_type: 1, ip_str: '192.0.2.1,2001:db8::/32' },
  ),
};

function isEmpty(list: readonly string[] | undefined): boolean {
  return list?.length === 0;
}
