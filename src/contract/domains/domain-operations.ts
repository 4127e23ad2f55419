/** What the `/domain/*` operations take and give. */
import * as z from 'zod';
import { choice, clearable, identifier, optionalHttpUrl, originList, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { changesSettings } from '../settings/domain-settings.ts';
import { DOMAIN_DATA, DOMAIN_ROW, SAMPLE_DOMAIN, SAMPLE_ROW, SOURCE_TYPES } from './domain-data.ts';
import { DOMAIN_FILTER_FIELDS, PAGE_FIELDS } from './list-fields.ts';

/** The longest name DNS has is 253; anything longer is refused as a name, with that word. */
export const MAX_NAME_LENGTH = 1024;
const MAX_REMARK_LENGTH = 255;

export const sourceType = choice(['', ...SOURCE_TYPES.codes], {
  'zh-CN': `${SOURCE_TYPES.codes.slice(0, -1).join('、')} 或 ${SOURCE_TYPES.codes.at(-1)}（空为默认值 http）`,
  en: `${SOURCE_TYPES.codes.slice(0, -1).join(', ')} or ${SOURCE_TYPES.codes.at(-1)} (empty: the default http)`,
});
export const sourceHost = {
  ...text({ max: MAX_NAME_LENGTH }),
  expects: {
    'zh-CN': '回源 HOST：域名、IP 或 域名:端口；空为加速域名本身',
    en: 'a host, perhaps with a port; empty for the domain itself',
  },
};
export const remark = text({ max: MAX_REMARK_LENGTH });

export const DOMAIN_OPERATIONS = {
  'domain.get': operation({
    summary: { 'zh-CN': '查询域名信息', en: 'Gets a domain' },
    request: request({ domain_id: identifier }),
    data: DOMAIN_DATA,
    sample: { request: { domain_id: '1001' }, data: SAMPLE_DOMAIN },
  }),
  'domain.updateOrigin': changesSettings(
    { 'zh-CN': '修改回源信息', en: "Changes a domain's origins" },
    {
      data: originList,
      backup: clearable(originList),
      source_type: clearable(sourceType),
      sourcehost: clearable(sourceHost),
      monitor_url: clearable(optionalHttpUrl),
    },
    { data: ['203.0.113.11', '[2001:db8::11]:8443'], backup: [], source_type: 'https' },
  ),
  'domain.list': operation({
    summary: { 'zh-CN': '分页查询域名列表', en: 'Lists domains, a page at a time, in the order they were added' },
    request: request({
      ...PAGE_FIELDS,
      ...DOMAIN_FILTER_FIELDS,
    }),
    data: z.object({
      total: z.int().describe('number of domains that match, on all pages'),
      list: z.array(DOMAIN_ROW).describe('the domains of this page'),
    }),
    sample: {
      request: { page: 1, page_size: 20, name: 'example', domain_status: 1 },
      data: { total: 1, list: [SAMPLE_ROW] },
    },
  }),
  'domain.delete': changesSettings({ 'zh-CN': '删除域名', en: 'Deletes a domain' }, {}, {}),
  'domain.setStatus': changesSettings(
    { 'zh-CN': '停用或启用域名', en: 'Closes a domain, or opens it again' },
    { domain_status: choice(['0', '2'], { 'zh-CN': '0（关闭）或 2（启用）', en: '0 (close) or 2 (open)' }) },
    { domain_status: '0' },
  ),
  'domain.setRemark': changesSettings(
    { 'zh-CN': '修改域名备注', en: "Changes a domain's remark" },
    { remark },
    { remark: '官网 · main site' },
  ),
};
