/** Domains as lists and pages show them: brief rows, and how far a change has come. docs/decisions/0670 */
import * as z from 'zod';
import { choice, choices, clearable, FLAG_TEXT, identifier, optional, text } from '../schema/fields.ts';
import { domainIds } from '../schema/id-lists.ts';
import { operation, request } from '../schema/operation.ts';
import { REVISION_DATA, SAMPLE_REVISION } from '../schema/revision-fields.ts';
import { CDN_TYPES, DOMAIN_DATA, DOMAIN_STATUS_CODES } from './domain-data.ts';
import { PAGE_FIELDS } from './list-fields.ts';

const MAX_NAME_LENGTH = 1024;
const MAX_REMARK_LENGTH = 255;
const MAX_SSL_KEY_LENGTH = 128;
const MAX_CURSOR_LENGTH = 300;

const BRIEF_SORTS = ['created', 'name', 'traffic'] as const;
const BRIEF_PARTS = ['traffic', 'hit_ratio', 'spark'] as const;
const PROPAGATION_STATES = ['waiting', 'done', 'refused', 'away'] as const;

/** Expectation for the field that a list's `next` is given back as. */
export const CURSOR_EXPECTS = {
  'zh-CN': '上一页答复中的 next，且排序方式不变',
  en: '`next` of the page before, with the same sort',
};

const { domain_id, domain_name, cname, cdn_type_id, cdn_type, domain_status, status, remark, ssl_control } =
  DOMAIN_DATA.shape;

const BRIEF = z
  .object({
    ...{ domain_id, domain_name, cname, cdn_type_id, cdn_type, domain_status, status, remark, ssl_control },
    origin: z.string().describe('first primary origin, as it was written; empty: none'),
    ssl_key: z.string().describe('certificate identifier; empty: none'),
    ssl_ends_at: z.int().describe('when the certificate ends, Unix milliseconds; 0: there is none'),
    created_at: z.int().describe('when it was added, Unix milliseconds'),
    ...REVISION_DATA,
    traffic: z
      .object({ requests: z.int(), bytes_out: z.int().describe('sent to clients') })
      .optional()
      .describe('of the last 24 hours, only with `traffic`'),
    hit_ratio: z
      .number()
      .nullable()
      .optional()
      .describe(
        'share of the requests of the last 24 hours that the cache answered, only with `hit_ratio`; null: none',
      ),
    spark: z
      .array(z.int())
      .optional()
      .describe('bytes sent to clients in each of the last 24 hours, the oldest first, only with `spark`'),
  })
  .meta({ id: 'BriefDomain' });

const SPARK_SAMPLE = [...Array.from({ length: 22 }, () => 0), 20_931, 1024];

export const DOMAIN_VIEW_OPERATIONS = {
  'domain.listBrief': operation({
    summary: {
      'zh-CN': '按条件查询域名的简要列表，可附带最近 24 小时的流量',
      en: 'Lists domains in brief, by filters, with their traffic of the last 24 hours if asked for',
    },
    request: request({
      name: optional(text({ max: MAX_NAME_LENGTH })),
      statuses: optional(
        choices(DOMAIN_STATUS_CODES, {
          'zh-CN': 'domain_status 的数组，至少一个：["0"]、["1", "2"] 等',
          en: 'an array of at least one status of domains, such as ["1", "2"]',
        }),
      ),
      cdn_type: optional(
        choice(CDN_TYPES.codes, {
          'zh-CN': '1（静态）、2（下载）、3（点播）、4（直播）或 6（动态）',
          en: '1 (static), 2 (download), 3 (on-demand video), 4 (live) or 6 (dynamic)',
        }),
      ),
      ssl_key: optional(text({ max: MAX_SSL_KEY_LENGTH })),
      remark: optional(text({ max: MAX_REMARK_LENGTH })),
      domain_ids: clearable(domainIds),
      sort: optional(
        choice(BRIEF_SORTS, {
          'zh-CN': 'created（最新添加的在前，默认）、name（按名称）或 traffic（流量最大的在前）',
          en: 'created (the newest first, the default), name, or traffic (the most first)',
        }),
      ),
      with: optional(
        choices(BRIEF_PARTS, {
          'zh-CN': '数组，取自 traffic（流量）、hit_ratio（命中率）、spark（每小时的流量）',
          en: 'an array of at least one of traffic, hit_ratio and spark (traffic by hour)',
        }),
      ),
      after: optional({ ...text({ max: MAX_CURSOR_LENGTH }), expects: CURSOR_EXPECTS }),
      page_size: PAGE_FIELDS.page_size,
    }),
    data: z.object({
      total: z.int().describe('number of domains that match, on all pages'),
      list: z.array(BRIEF),
      next: z.string().describe('give it as `after` for what comes next; empty: there is no more'),
    }),
    sample: {
      request: { name: 'example', statuses: ['1', '2'], sort: 'traffic', with: ['traffic', 'hit_ratio', 'spark'] },
      data: {
        total: 1,
        list: [
          {
            domain_id: '1001',
            domain_name: 'www.example.com',
            cname: 'www.example.com.cdn.localhost',
            cdn_type_id: '1',
            cdn_type: '静态加速',
            domain_status: 2,
            status: '加速中',
            remark: '',
            ssl_control: '1',
            origin: '203.0.113.10:8080',
            ssl_key: '5f0c1d2e3a4b5c6d7e8f90a1b2c3d4e5',
            ssl_ends_at: 1_777_608_000_000,
            created_at: 1_769_832_000_123,
            revision: SAMPLE_REVISION,
            traffic: { requests: 4, bytes_out: 21_955 },
            hit_ratio: 0.75,
            spark: SPARK_SAMPLE,
          },
        ],
        next: '',
      },
    },
  }),
  'domain.propagation': operation({
    summary: {
      'zh-CN': '查询域名最近一次修改在各节点的生效情况',
      en: "Shows at which edges a domain's last change is in force",
    },
    request: request({ domain_id: identifier }),
    data: z.object({
      revision: z.string().describe('revision of the settings: what edges are to apply'),
      head_revision: z.string().describe('newest revision of all settings of the service'),
      changed_at: z.int().describe('when the settings were changed, Unix milliseconds; 0: that is not kept'),
      in_force: FLAG_TEXT.describe('1: every edge that the change waits for has applied it, and there is one'),
      counts: z
        .object({ waiting: z.int(), done: z.int(), refused: z.int(), away: z.int() })
        .describe('edges in each state'),
      edges: z
        .array(
          z.object({
            edge: z.string().describe('name of the edge'),
            applied_revision: z.string().describe('revision that all of the edge runs'),
            state: z
              .enum(PROPAGATION_STATES)
              .describe(
                'waiting; done; refused: the edge cannot apply it and serves what it had; away: it has not applied it, and nothing waits for it, since it is silent or out of service',
              ),
            reported_at: z.int().describe('its last report, Unix milliseconds'),
            error: z.string().describe('why it refuses the change; else empty'),
          }),
        )
        .describe(
          'edges that serve the domain and reported in the last day, at most 200: those that are not done first',
        ),
    }),
    sample: {
      request: { domain_id: '1001' },
      data: {
        revision: SAMPLE_REVISION,
        head_revision: '5123',
        changed_at: 1_769_832_000_123,
        in_force: '0',
        counts: { waiting: 1, done: 1, refused: 0, away: 0 },
        edges: [
          { edge: 'fra1', applied_revision: '16', state: 'waiting', reported_at: 1_769_832_000_512, error: '' },
          { edge: 'local', applied_revision: '17', state: 'done', reported_at: 1_769_832_000_388, error: '' },
        ],
      },
    },
  }),
};
