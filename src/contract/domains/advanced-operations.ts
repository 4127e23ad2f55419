/** What `/config/getDomainAdvanced` and `/config/setDomainAdvanced` take and give. */
import { MAX_PAGE_BYTES } from '../../model/limits.ts';
import { choice, clearable, longText, optionalHttpUrl } from '../schema/fields.ts';
import { changesSettings, readsSettings } from '../settings/domain-settings.ts';
import { WIRE_SWITCHES, WIRE_VALIDITIES } from '../settings/settings.ts';
import { REFUSAL_DATA, REFUSALS } from './domain-data.ts';

const page = {
  ...longText(MAX_PAGE_BYTES),
  expects: {
    'zh-CN': `403 页面的 HTML，UTF-8 编码后至多 ${MAX_PAGE_BYTES} 字节；forbid_http_code 为 403 时不得为空，已保存过页面时可省略`,
    en: `HTML of at most ${MAX_PAGE_BYTES} bytes in UTF-8; not empty when forbid_http_code is 403, and left out then only if a page is stored`,
  },
};
const redirectUrl = {
  ...optionalHttpUrl,
  expects: {
    'zh-CN': `${optionalHttpUrl.expects['zh-CN']}；forbid_http_code 为 302 时必填，不得为空`,
    en: `${optionalHttpUrl.expects.en}; required, and not empty, when forbid_http_code is 302`,
  },
};

const { expires, access_control_max_age } = WIRE_VALIDITIES.data;

export const ADVANCED_OPERATIONS = {
  'config.getAdvanced': readsSettings(
    { 'zh-CN': '查询域名高级配置', en: "Gets a domain's advanced configuration" },
    { ...WIRE_SWITCHES.data, ...REFUSAL_DATA, access_control_max_age, expires },
    {
      ...WIRE_SWITCHES.sampleData,
      forbid_http_code: '302',
      forbid_redirect_url: 'https://www.example.com/sorry.html',
      access_control_max_age: WIRE_VALIDITIES.sampleData.access_control_max_age,
      expires: WIRE_VALIDITIES.sampleData.expires,
    },
  ),
  'config.setAdvanced': changesSettings(
    { 'zh-CN': '设置域名高级配置', en: "Sets a domain's advanced configuration" },
    {
      ...WIRE_SWITCHES.fields,
      ...WIRE_VALIDITIES.fields,
      forbid_http_code: choice(REFUSALS, {
        'zh-CN': '302（跳转）、403（自定义页面）或空（默认的 403）',
        en: '302 (redirect), 403 (a page) or empty (a plain 403)',
      }),
      forbid_redirect_url: clearable(redirectUrl),
      html_403: clearable(page),
    },
    {
      ...WIRE_SWITCHES.sampleRequest,
      ...WIRE_VALIDITIES.sampleRequest,
      forbid_http_code: 302,
      forbid_redirect_url: 'https://www.example.com/sorry.html',
    },
    ({ forbid_http_code, forbid_redirect_url = '', html_403 }) => {
      if (forbid_http_code === '302' && forbid_redirect_url === '') return 'forbid_redirect_url';
      // Omitted, it may be stored: only the handler can tell. docs/decisions/0100
      return forbid_http_code === '403' && html_403 === '' ? 'html_403' : undefined;
    },
  ),
};
