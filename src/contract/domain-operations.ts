/** What the `/domain/*` operations take and give. */
import * as z from 'zod';
import { CDN_TYPES, DOMAIN_DATA, DOMAIN_ROW, SAMPLE_DOMAIN, SAMPLE_ROW, SOURCE_TYPES } from './domain-data.ts';
import { changesSettings } from './domain-settings.ts';
import { choice, clearable, identifier, optional, optionalHttpUrl, originList, text } from './fields.ts';
import { DOMAIN_FILTER_FIELDS, PAGE_FIELDS } from './list-fields.ts';
import { operation, request } from './operation.ts';
import { ORIGIN_WARNINGS } from './origin-warnings.ts';

/** The longest name DNS has is 253; anything longer is refused as a name, with that word. */
const MAX_NAME_LENGTH = 1024;
const MAX_ICP_LENGTH = 64;
const MAX_REMARK_LENGTH = 255;

const sourceType = choice(['', ...SOURCE_TYPES.codes], {
  'zh-CN': `${SOURCE_TYPES.codes.slice(0, -1).join('、')} 或 ${SOURCE_TYPES.codes.at(-1)}（空为默认值 http）`,
  en: `${SOURCE_TYPES.codes.slice(0, -1).join(', ')} or ${SOURCE_TYPES.codes.at(-1)} (empty: the default http)`,
});
const sourceHost = {
  ...text({ max: MAX_NAME_LENGTH }),
  expects: {
    'zh-CN': '回源 HOST：域名、IP 或 域名:端口；空为加速域名本身',
    en: 'a host, perhaps with a port; empty for the domain itself',
  },
};
const domainName = {
  ...text({ min: 1, max: MAX_NAME_LENGTH }),
  expects: {
    'zh-CN': '域名，如 www.example.com；泛域名写作 *.example.com 或 .example.com',
    en: 'a domain name such as www.example.com; a wildcard is written *.example.com or .example.com',
  },
};
const remark = text({ max: MAX_REMARK_LENGTH });

export const DOMAIN_OPERATIONS = {
  'domain.get': operation({
    summary: { 'zh-CN': '查询域名信息', en: 'Gets a domain' },
    request: request({ domain_id: identifier }),
    data: DOMAIN_DATA,
    sample: { request: { domain_id: '1001' }, data: SAMPLE_DOMAIN },
  }),
  'domain.add': operation({
    summary: { 'zh-CN': '添加域名', en: 'Adds a domain' },
    request: request({
      domain: domainName,
      icp_no: optional(text({ max: MAX_ICP_LENGTH })),
      cdn_type: choice(CDN_TYPES.codes, {
        'zh-CN': '1（静态）、2（下载）、3（点播）、4（直播）或 6（动态）',
        en: '1 (static), 2 (download), 3 (on-demand video), 4 (live) or 6 (dynamic)',
      }),
      data: optional(originList),
      backup: optional(originList),
      source_type: optional(sourceType),
      sourcehost: optional(sourceHost),
      monitor_url: optional(optionalHttpUrl),
      remark: optional(remark),
    }),
    data: z.object({ domain_id: z.string().describe('id of the new domain'), warnings: ORIGIN_WARNINGS }),
    sample: {
      request: {
        domain: 'www.example.com',
        icp_no: '',
        data: '203.0.113.10:8080\norigin.example.net',
        backup: 'backup.example.net',
        cdn_type: 1,
        monitor_url: 'http://www.example.com/health',
      },
      data: { domain_id: '1001' },
    },
  }),
  'domain.updateOrigin': changesSettings(
    { 'zh-CN': '修改回源信息', en: "Changes a domain's origins" },
    {
      data: originList,
      backup: clearable(originList),
      source_type: clearable(sourceType),
      sourcehost: clearable(sourceHost),
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
