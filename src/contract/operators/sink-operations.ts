/** Sinks: receivers to which edges post log lines soon after requests end. docs/decisions/0743 */
import * as z from 'zod';
import {
  MAX_SINK_HEADER_CHARS,
  MAX_SINK_HEADERS,
  parseSinkHeader,
  SINK_FIELDS,
  SINK_LIMITS,
  SINK_NAME,
} from '../../model/line-sink.ts';
import { choices, clearable, integer, lines, matching, optional, optionalHttpUrl } from '../schema/fields.ts';
import { domainIds } from '../schema/id-lists.ts';
import { operation, request } from '../schema/operation.ts';
import { POST_ANSWER } from '../schema/post-answer.ts';

const name = matching(SINK_NAME, {
  'zh-CN': '名称：1 到 32 个小写字母、数字和连字符，不以连字符开头',
  en: 'a name: 1 to 32 lower-case letters, digits and hyphens, not beginning with a hyphen',
});

const url = {
  ...optionalHttpUrl,
  schema: optionalHttpUrl.schema.refine((text) => text !== ''),
  expects: {
    'zh-CN': '以 http:// 或 https:// 开头的网址，不含用户名，百分号编码后至多 1024 个字符',
    en: 'a URL that begins with http:// or https://, without a user name, at most 1024 characters when percent-encoded',
  },
};

const HEADER_LINE = {
  'zh-CN': '“名称: 值”，值为可打印的 ASCII 字符，且不是由本服务自行设置的字段',
  en: '"Name: value" with a value of printable ASCII characters, and not a field that the service sets itself',
};

const HEADER_LINES = lines({
  maxEntries: MAX_SINK_HEADERS,
  maxLength: MAX_SINK_HEADER_CHARS,
  expects: {
    'zh-CN': `至多 ${MAX_SINK_HEADERS} 个请求头的数组，或每行一个的文本，每个为${HEADER_LINE['zh-CN']}`,
    en: `an array of at most ${MAX_SINK_HEADERS} header fields, or a text with one per line, each ${HEADER_LINE.en}`,
  },
  each: HEADER_LINE,
});
const headers = {
  ...HEADER_LINES,
  schema: HEADER_LINES.schema.refine((texts) => texts.every((text) => parseSinkHeader(text) !== undefined)),
  isSecret: true as const,
};

const { bytes, records, seconds } = SINK_LIMITS;

const SINK = z
  .object({
    name: z.string(),
    url: z.string().describe('empty: the stored sink cannot be opened, because the key ring lacks its key'),
    headers: z.array(z.string()).describe('names of the header fields that it is sent; their values are secret'),
    fields: z.array(z.enum(SINK_FIELDS)).describe('members of each record'),
    sample_percent: z.int().describe('percentage of the lines that it is sent'),
    domain_ids: z.array(z.string()).describe('domains whose lines it is sent; empty: all'),
    max_bytes: z.int().describe('bytes of one post before compression'),
    max_records: z.int().describe('records of one post'),
    max_seconds: z.int().describe('how long a record waits for others of the same post'),
    troubles: z
      .array(z.object({ edge_id: z.string(), state: z.enum(['failing', 'dropping']), reason: z.string() }))
      .describe('edges that cannot send to it (`failing`), or that dropped records in the last ten minutes'),
  })
  .meta({ id: 'LogSink' });

const SAMPLE: z.infer<typeof SINK> = {
  name: 'vector',
  url: 'https://logs.example/ingest',
  headers: ['Authorization'],
  fields: ['time', 'edge', 'domain_id', 'host', 'target', 'status', 'cache', 'response_bytes'],
  sample_percent: 100,
  domain_ids: [],
  max_bytes: bytes.default,
  max_records: records.default,
  max_seconds: seconds.default,
  troubles: [],
};

export const SINK_OPERATIONS = {
  'sinkOperator.list': operation({
    summary: { 'zh-CN': '查询实时日志的接收地址', en: 'Lists the receivers of log lines in real time' },
    request: request({}),
    data: z.object({ list: z.array(SINK) }),
    sample: { request: {}, data: { list: [SAMPLE] } },
  }),
  'sinkOperator.set': operation({
    summary: {
      'zh-CN': '添加或更改实时日志的接收地址（至多 8 个）',
      en: 'Adds a receiver of log lines in real time, or changes one; there are at most 8',
    },
    request: request({
      name,
      url,
      headers: clearable(headers),
      fields: optional(
        choices(SINK_FIELDS, {
          'zh-CN': `数组，取自 ${SINK_FIELDS.join('、')}（默认：全部）`,
          en: `an array of at least one of ${SINK_FIELDS.join(', ')} (default: all)`,
        }),
      ),
      sample_percent: optional(integer(1, 100)),
      domain_ids: optional(domainIds),
      max_bytes: optional(integer(bytes.min, bytes.max)),
      max_records: optional(integer(records.min, records.max)),
      max_seconds: optional(integer(seconds.min, seconds.max)),
    }),
    data: z.boolean(),
    sample: {
      request: {
        name: 'vector',
        url: 'https://logs.example/ingest',
        headers: ['Authorization: Bearer 4f9c'],
        fields: [...SAMPLE.fields],
      },
      data: true,
    },
  }),
  'sinkOperator.remove': operation({
    summary: { 'zh-CN': '删除实时日志的接收地址', en: 'Removes a receiver of log lines' },
    request: request({ name }),
    data: z.boolean(),
    sample: { request: { name: 'vector' }, data: true },
  }),
  'sinkOperator.test': operation({
    summary: {
      'zh-CN': '由控制节点立即发送一条测试记录，并返回其应答',
      en: 'Posts a test record from control at once, and shows the answer',
    },
    request: request({ name }),
    data: POST_ANSWER,
    sample: { request: { name: 'vector' }, data: { status: 200, reason: '', took_ms: 41, answer: '' } },
  }),
};
