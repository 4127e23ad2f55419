/** What `/domain/addDomain` takes and gives. */
import * as z from 'zod';
import { CDN_TYPES } from '../domains/domain-data.ts';
import { MAX_NAME_LENGTH, remark, sourceHost, sourceType } from '../domains/domain-operations.ts';
import { ORIGIN_WARNINGS } from '../domains/origin-warnings.ts';
import { choice, optional, optionalHttpUrl, originList, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { DRY_RUN, GIVEN_SETTINGS } from './setting-topics.ts';

const MAX_ICP_LENGTH = 64;

const domainName = {
  ...text({ min: 1, max: MAX_NAME_LENGTH }),
  expects: {
    'zh-CN': '域名，如 www.example.com；泛域名写作 *.example.com 或 .example.com',
    en: 'a domain name such as www.example.com; a wildcard is written *.example.com or .example.com',
  },
};

export const ADD_DOMAIN_OPERATION = {
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
      set: optional(GIVEN_SETTINGS),
      dry_run: DRY_RUN,
    }),
    data: z.object({
      domain_id: z.string().describe('id of the new domain; empty with dry_run'),
      warnings: ORIGIN_WARNINGS,
    }),
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
};
