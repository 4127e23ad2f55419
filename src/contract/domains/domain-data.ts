/** A domain in answers: every field of /domain/getDomainById in the interface document, with its type. */
import * as z from 'zod';
import type { AccelerationType, OriginProtocol } from '../../model/domain.ts';
import { codes } from '../schema/codes.ts';
import { FLAG_TEXT } from '../schema/fields.ts';
import { REVISION_DATA, SAMPLE_REVISION } from '../schema/revision-fields.ts';
import { WIRE_SWITCHES, WIRE_VALIDITIES } from '../settings/settings.ts';
import { ORIGIN_WARNINGS } from './origin-warnings.ts';

/** The codes of `domain_status`: closed, being configured, accelerating, review rejected, disabled. */
export const DOMAIN_STATUS_CODES = ['0', '1', '2', '5', '6'] as const;

export const CDN_TYPES = codes({
  static: '1',
  download: '2',
  video: '3',
  live: '4',
  dynamic: '6',
} as const satisfies Readonly<Record<AccelerationType, string>>);

export const SOURCE_TYPES = codes({
  http: 'http',
  https: 'https',
  follow: 'protocol_follow',
} as const satisfies Readonly<Record<OriginProtocol, string>>);

/** What refused clients get: a plain 403, a redirect, or a page. */
export const REFUSALS = ['', '302', '403'] as const;

export const REFUSAL_DATA = {
  forbid_http_code: z.enum(REFUSALS).describe('custom error code; empty when none is set'),
  forbid_redirect_url: z.string().describe('redirect address for 302'),
};

const { keep_url_params, prefix_cache_first, ssl_control, ...switches } = WIRE_SWITCHES.data;

export const DOMAIN_DATA = z
  .object({
    domain_id: z.string().describe('domain id'),
    domain_name: z.string().describe('the accelerated domain; a wildcard begins with `*.`'),
    cname: z.string().describe('alias: point the domain there with a CNAME record'),
    cdn_type_id: z.enum(CDN_TYPES.codes).describe('1 static, 2 download, 3 on-demand video, 4 live, 6 dynamic'),
    cdn_type: z.string().describe('acceleration type as a localised label'),
    icp_no: z.string().describe('filing (ICP) number'),
    source_type: z.enum(SOURCE_TYPES.codes).describe('origin protocol'),
    origin: z.array(z.string()).describe('primary origin addresses, as they were written'),
    backup: z.array(z.string()).describe('backup origin addresses, as they were written'),
    port: z.string().optional().describe('port of the first primary origin; only when that is an IP address'),
    sourcehost: z.string().describe('origin Host header; for a wildcard domain empty: the requested host'),
    domain_status: z
      .union([z.int(), z.enum(DOMAIN_STATUS_CODES)])
      .describe(
        '0 closed, 1 being configured, 2 accelerating, 5 review rejected, 6 disabled; an integer unless set up as a string',
      ),
    status: z.string().describe('state as a localised label'),
    reject_reason: z
      .string()
      .optional()
      .describe('extension: why the review was rejected, in words of the operator; only with 5, if there is a reason'),
    waiting_for: z
      .array(z.string())
      .optional()
      .describe('extension: at most 20 of the edges that do not run the last change yet; only while there are any'),
    monitor_url: z.string().describe('probe URL'),
    keep_url_params,
    prefix_cache_first,
    ssl_control,
    ssl_key: z.string().optional().describe('certificate identifier; only when ssl_control is 1'),
    ssl_key_second: z
      .string()
      .optional()
      .describe('extension: identifier of a second certificate, with another kind of key; only when there is one'),
    ...switches,
    ...WIRE_VALIDITIES.data,
    ...REFUSAL_DATA,
    html_403: z.string().describe('page content for 403'),
    is_extensive: FLAG_TEXT.describe('0 wildcard domain, 1 ordinary domain'),
    remark: z.string().describe('remark'),
    create_time: z.string().describe("creation time, YYYY-MM-DD HH:MM:SS in the service's time zone"),
    ...REVISION_DATA,
    warnings: ORIGIN_WARNINGS,
  })
  .meta({ id: 'Domain' });

export type DomainData = z.infer<typeof DOMAIN_DATA>;

/** A domain in a list: without the page, which may be 64 KiB of each, and without edges. */
export const DOMAIN_ROW = DOMAIN_DATA.omit({ html_403: true, waiting_for: true }).meta({ id: 'ListedDomain' });

export type ListedDomain = z.infer<typeof DOMAIN_ROW>;

/** A domain that a customer has just added, for samples. */
export const SAMPLE_DOMAIN: DomainData = {
  domain_id: '1001',
  domain_name: 'www.example.com',
  cname: 'www.example.com.cdn.localhost',
  cdn_type_id: '1',
  cdn_type: '静态加速',
  icp_no: '',
  source_type: 'http',
  origin: ['203.0.113.10:8080', 'origin.example.net'],
  backup: ['backup.example.net'],
  port: '8080',
  sourcehost: 'www.example.com',
  domain_status: 1,
  status: '配置中',
  monitor_url: 'http://www.example.com/health',
  ...WIRE_SWITCHES.defaultData,
  ...WIRE_VALIDITIES.defaultData,
  forbid_http_code: '',
  forbid_redirect_url: '',
  html_403: '',
  is_extensive: '1',
  remark: '',
  create_time: '2026-01-31 12:00:00',
  revision: SAMPLE_REVISION,
};

export const SAMPLE_ROW: ListedDomain = DOMAIN_ROW.parse(SAMPLE_DOMAIN);
