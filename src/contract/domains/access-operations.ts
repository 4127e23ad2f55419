/** Operations of the access rules: the Referer rule, and the lists of what is refused. Edge rule 6, docs/decisions/0101, 0102 */
import * as z from 'zod';
import type { RefererSettings } from '../../model/domain.ts';
import { MAX_ACCESS_ENTRIES } from '../../model/limits.ts';
import { codes } from '../schema/codes.ts';
import { choice, commaList, FLAG_TEXT, flag, optional } from '../schema/fields.ts';
import { changesSettings, readsSettings } from '../settings/domain-settings.ts';
import { byOperation, WIRE_DENY_LISTS } from './deny-lists.ts';

const MAX_REFERER_LENGTH = 1024;

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

export const REFERER_TYPES = codes({
  off: '0',
  deny: '1',
  allow: '2',
} as const satisfies Readonly<Record<RefererSettings['mode'], string>>);

const SAMPLE_REFERER = {
  referer_type: '2',
  referer_blank: '1',
  referer_str: 'example.com,*.example.net',
} as const;

export const ACCESS_OPERATIONS = {
  'config.setReferer': changesSettings(
    { 'zh-CN': '设置 Referer 防盗链', en: "Sets a domain's referer rule" },
    {
      referer_type: choice(REFERER_TYPES.codes, {
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
    // Omitted, it may be stored: only the handler can tell. docs/decisions/0102
    ({ referer_type, referer_str }) => (referer_type !== '0' && referer_str?.length === 0 ? 'referer_str' : undefined),
    [{ when: 'referer_type', holds: (type) => type === '0', fields: ['referer_blank', 'referer_str'] }],
  ),
  ...byOperation('set', WIRE_DENY_LISTS, 'change'),
  'config.getReferer': readsSettings(
    { 'zh-CN': '查询 Referer 防盗链', en: "Gets a domain's referer rule" },
    {
      referer_type: z.enum(REFERER_TYPES.codes).describe('0 off, 1 blacklist, 2 whitelist'),
      referer_blank: FLAG_TEXT.describe('for an empty referer 0 forbid, 1 allow'),
      referer_str: z.string().describe('domains, comma-separated; kept while the rule is off'),
    },
    SAMPLE_REFERER,
  ),
  ...byOperation('get', WIRE_DENY_LISTS, 'show'),
};
