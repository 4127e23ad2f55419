/** What the operations of certificates, and of the HTTPS of a domain, take and give. docs/decisions/0170, 0171 */
import * as z from 'zod';
import { clearable, flag, longText, optional, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { changesSettings, readsSettings, SUCCEEDED } from '../settings/domain-settings.ts';
import { WIRE_HTTPS_SETTINGS, WIRE_SWITCHES } from '../settings/settings.ts';
import { CERTIFICATE_WARNINGS, describeWarning } from './certificate-warnings.ts';
import { PAGE_FIELDS } from './list-fields.ts';

export const CERTIFICATE_STATUSES = ['InUse', 'Unused', 'Expired'] as const;

const KEY_KINDS = ['rsa', 'ecdsa', 'ed25519'] as const;
const MAX_TITLE_LENGTH = 255;
const MAX_SSL_KEY_LENGTH = 128;
/** Ten certificates; more than any key that is served has. */
const MAX_CERTIFICATE_BYTES = 64 * 1024;
const MAX_PRIVATE_KEY_BYTES = 16 * 1024;

/** A title of one line: titles are shown, so a key that is pasted into the wrong field must not become one. */
const title = {
  schema: text({ min: 1, max: MAX_TITLE_LENGTH }).schema.refine((value) => !/\p{Cc}/u.test(value)),
  kind: 'text' as const,
  expects: {
    'zh-CN': `1 到 ${MAX_TITLE_LENGTH} 个字符的文本，不含换行等控制字符`,
    en: `text of 1 to ${MAX_TITLE_LENGTH} characters, without line breaks and other control characters`,
  },
  json: text({ min: 1, max: MAX_TITLE_LENGTH }).json,
  isSecret: true as const,
};
export const sslKey = {
  ...text({ min: 1, max: MAX_SSL_KEY_LENGTH }),
  expects: {
    'zh-CN': `证书标识，1 到 ${MAX_SSL_KEY_LENGTH} 个字符的文本`,
    en: `the identifier of a certificate, a text of 1 to ${MAX_SSL_KEY_LENGTH} characters`,
  },
};

/** Secret too: people paste the key into the wrong field. */
export const CERTIFICATE_TEXT = {
  ...longText(MAX_CERTIFICATE_BYTES),
  kind: 'pem' as const,
  isSecret: true as const,
  expects: {
    'zh-CN': `PEM 格式的证书，可带证书链，顺序不限，至多 ${MAX_CERTIFICATE_BYTES} 字节`,
    en: `a certificate as PEM, with its chain in any order, of at most ${MAX_CERTIFICATE_BYTES} bytes`,
  },
};
export const PRIVATE_KEY_TEXT = {
  ...longText(MAX_PRIVATE_KEY_BYTES),
  kind: 'pem' as const,
  isSecret: true as const,
  expects: {
    'zh-CN': `证书的 PEM 格式私钥，未加密，至多 ${MAX_PRIVATE_KEY_BYTES} 字节`,
    en: `the private key of the certificate as PEM, not encrypted, of at most ${MAX_PRIVATE_KEY_BYTES} bytes`,
  },
};

const SAMPLE_KEY = '5f0c1d2e3a4b5c6d7e8f90a1b2c3d4e5';
const PEM = (label: string) => `-----BEGIN ${label}-----\n…\n-----END ${label}-----\n`;

const WARNINGS = z
  .array(
    z
      .object({
        code: z.enum(CERTIFICATE_WARNINGS).describe('what clients are likely to refuse'),
        text: z.string().describe('the same as a localised sentence'),
      })
      .meta({ id: 'CertificateWarning' }),
  )
  .optional()
  .describe('extension: why clients may refuse the certificate; absent without a reason');

export const CERTIFICATE_ROW = z.object({
  ssl_key: z.string().describe('certificate identifier'),
  title: z.string().describe('certificate name'),
  issuer: z.string().describe('issuing authority'),
  key_kind: z.enum(KEY_KINDS).describe('extension: kind of its key'),
  validfrom_time: z.int().describe('start of validity, Unix seconds'),
  validto_time: z.int().describe('end of validity, Unix seconds'),
  subjectaltname: z.string().describe('domains that the certificate is for, comma-separated'),
  status: z.enum(CERTIFICATE_STATUSES).describe('InUse: a domain uses it, expired or not'),
  status_name: z.string().describe('status as a localised label'),
  domains: z.int().optional().describe('extension, of pages only: number of domains that use it'),
  warnings: WARNINGS.describe('extension, of pages only: why clients may refuse the certificate'),
});

export const SAMPLE_CERTIFICATE: z.infer<typeof CERTIFICATE_ROW> = {
  ssl_key: SAMPLE_KEY,
  title: 'example.com 2026',
  issuer: 'R11',
  key_kind: 'ecdsa',
  validfrom_time: 1_767_225_600,
  validto_time: 1_775_001_600,
  subjectaltname: '*.example.com,example.com',
  status: 'InUse',
  status_name: '使用中',
};

export const CERTIFICATE_OPERATIONS = {
  'certificate.list': operation({
    summary: { 'zh-CN': '查询证书列表', en: 'Lists certificates, in the order they were added' },
    request: request(PAGE_FIELDS),
    data: z.array(CERTIFICATE_ROW),
    sample: { request: {}, data: [SAMPLE_CERTIFICATE] },
  }),
  'certificate.add': operation({
    summary: { 'zh-CN': '添加证书', en: 'Adds a certificate' },
    request: request({
      ssl_title: title,
      private_key: PRIVATE_KEY_TEXT,
      certificate: CERTIFICATE_TEXT,
    }),
    data: z.object({
      ssl_key: z.string().describe('certificate identifier'),
      warnings: WARNINGS,
    }),
    sample: {
      request: { ssl_title: 'example.com 2026', private_key: PEM('PRIVATE KEY'), certificate: PEM('CERTIFICATE') },
      data: {
        ssl_key: SAMPLE_KEY,
        warnings: [
          {
            code: 'issuerMissing',
            text: describeWarning('issuerMissing', { issuer: '"CN=R11"' }, 'zh-CN'),
          },
        ],
      },
    },
  }),
  'certificate.delete': operation({
    summary: { 'zh-CN': '删除证书', en: 'Deletes a certificate that no domain uses' },
    request: request({ ssl_key: sslKey }),
    data: SUCCEEDED,
    sample: { request: { ssl_key: SAMPLE_KEY }, data: true },
  }),
  'config.setSsl': changesSettings(
    { 'zh-CN': '设置域名的 HTTPS', en: "Sets a domain's HTTPS" },
    {
      ssl_control: flag,
      ssl_key: optional({
        ...sslKey,
        expects: {
          'zh-CN': `${sslKey.expects['zh-CN']}；ssl_control 为 0 或已绑定证书时可省略`,
          en: `${sslKey.expects.en}; may be left out when ssl_control is 0 or the domain has one`,
        },
      }),
      ssl_key_second: clearable({
        ...text({ min: 0, max: MAX_SSL_KEY_LENGTH }),
        expects: {
          'zh-CN': `另一张证书的标识，密钥类型与 ssl_key 的不同，至多 ${MAX_SSL_KEY_LENGTH} 个字符；空表示没有`,
          en: `the identifier of another certificate, with another kind of key than that of ssl_key, of at most ${MAX_SSL_KEY_LENGTH} characters; or empty for none`,
        },
      }),
      ...WIRE_HTTPS_SETTINGS.optionalFields,
    },
    { ssl_control: '1', ssl_key: SAMPLE_KEY, force_https: 1 },
    undefined,
    [{ when: 'ssl_control', holds: (isOn) => isOn === false, fields: ['ssl_key', 'ssl_key_second'] }],
  ),
  'config.getSsl': readsSettings(
    { 'zh-CN': '查询域名的 HTTPS', en: "Gets a domain's HTTPS" },
    {
      ssl_control: WIRE_SWITCHES.data.ssl_control,
      ssl_key: z.string().optional().describe('certificate identifier; only when ssl_control is 1'),
      ssl_key_second: z
        .string()
        .optional()
        .describe('second certificate, with another kind of key; only when there is one'),
      ...WIRE_HTTPS_SETTINGS.data,
      warnings: WARNINGS,
    },
    { ssl_control: '1', ssl_key: SAMPLE_KEY, ...WIRE_HTTPS_SETTINGS.sampleData },
  ),
};
