/** Changes of several domains by one call, each in a transaction of its own. docs/decisions/0672 */
import * as z from 'zod';
import { sslKey } from '../domains/certificate-operations.ts';
import { identifier, optional } from '../schema/fields.ts';
import { domainIds, MAX_DOMAIN_IDS } from '../schema/id-lists.ts';
import { operation, request } from '../schema/operation.ts';
import { CHANGED, SAMPLE_CHANGES } from './domain-change-operations.ts';
import { DRY_RUN, GIVEN_SETTINGS } from './setting-topics.ts';

const FAILURE = z
  .object({ code: z.string().describe('a code of docs/errors.md'), text: z.string() })
  .nullable()
  .describe('why this domain was left as it is; null: it was not');

const RESULT = z
  .object({ domain_id: z.string(), domain_name: z.string(), ...CHANGED, error: FAILURE })
  .meta({ id: 'ChangedDomain' });

const SAMPLE_RESULT = {
  domain_id: '1001',
  domain_name: 'www.example.com',
  revision: '18',
  changes: SAMPLE_CHANGES,
  warnings: [],
  error: null,
};

const NEW_KEY = 'b7c1d2e3f4a5968778695a4b3c2d1e0f';
const OLD_KEY = '5f0c1d2e3a4b5c6d7e8f90a1b2c3d4e5';

export const BULK_OPERATIONS = {
  'domain.changeMany': operation({
    summary: {
      'zh-CN': '对多个域名做相同的配置修改，逐个给出结果',
      en: 'Changes the same settings of several domains, with a result for each',
    },
    request: request({ domain_ids: domainIds, set: GIVEN_SETTINGS, dry_run: DRY_RUN }),
    data: z.object({ list: z.array(RESULT) }),
    sample: {
      request: { domain_ids: ['1001'], set: { advanced: { page_compress: 1 } } },
      data: { list: [SAMPLE_RESULT] },
    },
  }),
  'certificate.replace': operation({
    summary: {
      'zh-CN': '将所有使用某证书的域名改用另一证书，逐个给出结果',
      en: 'Gives the domains that use a certificate another one in its place, with a result for each',
    },
    request: request({ ssl_key: sslKey, new_ssl_key: sslKey, dry_run: DRY_RUN, after: optional(identifier) }),
    data: z.object({
      list: z.array(RESULT),
      next: z
        .string()
        .describe(`give it as \`after\` for the domains beyond these ${MAX_DOMAIN_IDS}; empty: there are no more`),
    }),
    sample: {
      request: { ssl_key: OLD_KEY, new_ssl_key: NEW_KEY },
      data: {
        list: [{ ...SAMPLE_RESULT, changes: [{ topic: 'ssl', name: 'ssl_key', before: OLD_KEY, after: NEW_KEY }] }],
        next: '',
      },
    },
  }),
};
