/** The bandwidth of a month by which traffic is billed. docs/decisions/0742 */
import * as z from 'zod';
import { clearable, type Field, FLAG_TEXT, identifier, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { fewDomainIds } from './series-operations.ts';

const month = {
  schema: z.string().regex(/^20\d\d-(0[1-9]|1[0-2])$/),
  kind: 'text',
  expects: { 'zh-CN': '月份，如 2026-01', en: 'a month such as 2026-01' },
} satisfies Field;

const at = z.int().describe('Unix milliseconds');
const rate = z.int().describe('bits per second');

const BANDWIDTH = z
  .object({
    month: z.string().describe("in the service's time zone"),
    from: at,
    to: at.describe('Unix milliseconds: the end of the month'),
    complete: FLAG_TEXT.describe('0: the month is not over, and the figures are those of its samples until now'),
    interval_seconds: z.int().describe('length of a sample: 300'),
    samples: z.int().describe('number of samples; five minutes without traffic are a sample of 0'),
    dropped: z.int().describe('number of the highest samples that do not count: 5 % of all, rounded down'),
    bits_per_second: rate.describe('the highest sample that counts: the 95th percentile'),
    peak_bits_per_second: rate.describe('bits per second: the highest sample of all'),
    peak_at: at.describe('Unix milliseconds: the beginning of that sample; 0: there was no traffic'),
    mean_bits_per_second: rate.describe('bits per second: the mean of all samples'),
    bytes_out: z.int().describe('sent to viewers, heads and bodies'),
  })
  .meta({ id: 'Bandwidth' });

const SAMPLE: z.infer<typeof BANDWIDTH> = {
  month: '2026-01',
  from: 1_767_196_800_000,
  to: 1_769_875_200_000,
  complete: '1',
  interval_seconds: 300,
  samples: 8928,
  dropped: 446,
  bits_per_second: 812_400_000,
  peak_bits_per_second: 1_904_000_000,
  peak_at: 1_768_557_600_000,
  mean_bits_per_second: 301_000_000,
  bytes_out: 100_776_300_000_000,
};

export const BANDWIDTH_OPERATIONS = {
  'stat.bandwidth': operation({
    summary: {
      'zh-CN': '查询月度 95 计费带宽（全部域名合计，或所给域名合计）',
      en: 'Gets the 95th percentile of the bandwidth in a month, of all domains together or of some',
    },
    request: request({ month: optional(month), domain_ids: clearable(fewDomainIds) }),
    data: BANDWIDTH,
    sample: { request: { month: '2026-01' }, data: SAMPLE },
  }),
  'operator.getBandwidth': operation({
    summary: {
      'zh-CN': '查询账户的月度 95 计费带宽',
      en: 'Gets the 95th percentile of the bandwidth of an account in a month',
    },
    request: request({ account_id: identifier, month: optional(month) }),
    data: BANDWIDTH,
    sample: { request: { account_id: '2', month: '2026-01' }, data: SAMPLE },
  }),
};
