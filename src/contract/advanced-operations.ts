/** What `/config/getDomainAdvanced` and `/config/setDomainAdvanced` take and give. */
import * as z from 'zod';
import { MAX_PAGE_BYTES, YEAR_SECONDS } from '../model/limits.ts';
import { choice, clearable, FLAG_TEXT, flag, identifier, integer, longText, optionalHttpUrl } from './fields.ts';
import { operation, request } from './operation.ts';
import { IF_REVISION, REVISION_DATA, SAMPLE_REVISION } from './revision-fields.ts';

const validity = {
  ...integer(0, YEAR_SECONDS),
  expects: {
    'zh-CN': `0 到 ${YEAR_SECONDS}（一年）的秒数`,
    en: `a whole number of seconds, from 0 to ${YEAR_SECONDS} (a year)`,
  },
};

const page = {
  ...longText(MAX_PAGE_BYTES),
  expects: {
    'zh-CN': `403 页面的 HTML，UTF-8 编码后至多 ${MAX_PAGE_BYTES} 字节；forbid_http_code 为 403 时不得为空，已保存过页面时可省略`,
    en: `HTML of at most ${MAX_PAGE_BYTES} bytes in UTF-8; when forbid_http_code is 403 not empty, and left out only when a page is stored`,
  },
};
const redirectUrl = {
  ...optionalHttpUrl,
  expects: {
    'zh-CN': `${optionalHttpUrl.expects['zh-CN']}；forbid_http_code 为 302 时必填，不得为空`,
    en: `${optionalHttpUrl.expects.en}; required, and not empty, when forbid_http_code is 302`,
  },
};

export const ADVANCED_OPERATIONS = {
  'config.getAdvanced': operation({
    summary: { 'zh-CN': '查询域名高级配置', en: "Gets a domain's advanced configuration" },
    request: request({ domain_id: identifier }),
    data: z.object({
      ...REVISION_DATA,
      keep_url_params: FLAG_TEXT.describe('parameter filtering'),
      prefix_cache_first: FLAG_TEXT.describe('directory cache priority'),
      ssl_control: FLAG_TEXT.describe('TLS acceleration'),
      redirect_follow: FLAG_TEXT.describe('redirect following'),
      page_compress: FLAG_TEXT.describe('smart compression'),
      range_back_source: FLAG_TEXT.describe('range origin fetch'),
      forbid_http_code: z.enum(['', '302', '403']).describe('custom error code; empty when none is set'),
      forbid_redirect_url: z.string().describe('redirect address for 302'),
      access_control_max_age: z.string().describe("validity of a preflight request's result in seconds"),
      expires: z.string().describe('browser cache validity in seconds'),
    }),
    sample: {
      request: { domain_id: '1001' },
      data: {
        revision: SAMPLE_REVISION,
        keep_url_params: '1',
        prefix_cache_first: '0',
        ssl_control: '0',
        redirect_follow: '1',
        page_compress: '1',
        range_back_source: '0',
        forbid_http_code: '302',
        forbid_redirect_url: 'https://www.example.com/sorry.html',
        access_control_max_age: '600',
        expires: '3600',
      },
    },
  }),
  'config.setAdvanced': operation({
    summary: { 'zh-CN': '设置域名高级配置', en: "Sets a domain's advanced configuration" },
    request: request(
      {
        domain_id: identifier,
        keep_url_params: flag,
        prefix_cache_first: flag,
        redirect_follow: flag,
        page_compress: flag,
        range_back_source: flag,
        expires: validity,
        access_control_max_age: validity,
        forbid_http_code: choice(['', '302', '403'], {
          'zh-CN': '302（跳转）、403（自定义页面）或空（默认的 403）',
          en: '302 (redirect), 403 (a page) or empty (a plain 403)',
        }),
        forbid_redirect_url: clearable(redirectUrl),
        html_403: clearable(page),
        ...IF_REVISION,
      },
      ({ forbid_http_code, forbid_redirect_url = '', html_403 }) => {
        if (forbid_http_code === '302' && forbid_redirect_url === '') return 'forbid_redirect_url';
        // Omitted, it may be stored: only the handler can tell. docs/decisions/0100
        return forbid_http_code === '403' && html_403 === '' ? 'html_403' : undefined;
      },
    ),
    data: z.boolean().describe('true when it was done'),
    sample: {
      request: {
        domain_id: '1001',
        keep_url_params: 1,
        prefix_cache_first: 0,
        redirect_follow: 1,
        page_compress: 1,
        range_back_source: 0,
        expires: 3600,
        access_control_max_age: 600,
        forbid_http_code: 302,
        forbid_redirect_url: 'https://www.example.com/sorry.html',
      },
      data: true,
    },
  }),
};
