/** What the `/config/*` operations take and give. */
import * as z from 'zod';
import { identifier } from './fields.ts';
import { operation, request } from './operation.ts';
import { IF_REVISION, REVISION_DATA, SAMPLE_REVISION } from './revision-fields.ts';
import { WIRE_CACHE_SETTINGS } from './settings.ts';

export const CONFIG_OPERATIONS = {
  'config.setCacheOptions': operation({
    summary: { 'zh-CN': '设置缓存选项', en: "Sets a domain's cache options" },
    request: request({
      domain_id: identifier,
      ...WIRE_CACHE_SETTINGS.optionalFields,
      ...IF_REVISION,
    }),
    data: z.boolean().describe('true when it was done'),
    sample: { request: { domain_id: '1001', set_cookie: 'strip', heuristic_cap: 600 }, data: true },
  }),
  'config.getCacheOptions': operation({
    summary: { 'zh-CN': '查询缓存选项', en: "Gets a domain's cache options" },
    request: request({ domain_id: identifier }),
    data: z.object({
      ...REVISION_DATA,
      ...WIRE_CACHE_SETTINGS.data,
    }),
    sample: {
      request: { domain_id: '1001' },
      data: {
        revision: SAMPLE_REVISION,
        ...WIRE_CACHE_SETTINGS.sampleData,
      },
    },
  }),
};
