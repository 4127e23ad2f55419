/** What customers ask about a domain as it is now: whether its name points here, what becomes of a request, its log. */
import * as z from 'zod';
import { FLAG_TEXT, identifier, integer, matching, optional, seconds, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { sourceHost, sourceType } from './domain-operations.ts';

const DNS_STATES = ['here', 'elsewhere', 'missing', 'mixed', 'unknown'] as const;
const CERTIFICATE_STATES = ['off', 'valid', 'notYetValid', 'expired', 'otherName', 'missing'] as const;

const MAX_FILTER_LENGTH = 1000;
export const MAX_TAIL_SECONDS = 600;

const ORIGIN_CHECK = z
  .object({
    origin: z.string().describe('the origin that was asked, host:port; empty: there is none'),
    address: z.string().describe('the address that was connected to; empty: none'),
    connect_ms: z.int().describe('time until the connection was open, TLS included'),
    tls: z.string().describe('version of TLS; empty: without TLS'),
    status: z.int().describe('status of its answer; 0: there was none'),
    cacheable: FLAG_TEXT.describe('whether edges would store the answer'),
    why: z
      .string()
      .describe(
        'why it cannot be used or is not stored, one of the reasons of X-Cache; empty: there is nothing to say',
      ),
  })
  .meta({ id: 'OriginCheck' });

const CHECK_DATA = z.object({
  dns: z.object({
    state: z
      .enum(DNS_STATES)
      .describe(
        'here: the name points to this service; elsewhere; missing: it has no address; mixed: the resolvers differ; unknown: none answered',
      ),
    found: z.array(z.string()).describe('names and addresses that it leads to'),
    resolvers: z
      .array(z.object({ resolver: z.string(), state: z.enum(DNS_STATES) }))
      .describe('the name servers that were asked'),
  }),
  certificate: z.object({
    state: z.enum(CERTIFICATE_STATES).describe('off: the domain has no HTTPS'),
    ssl_key: z.string().describe('identifier of the certificate; empty: none'),
    expires_at: seconds.describe('when the certificate ends, Unix seconds; 0: there is none'),
  }),
  origin: ORIGIN_CHECK,
  seen_at: seconds.describe('start of the first hour with a request that is in the statistics, Unix seconds; 0: none'),
});

export const CHECK_OPERATIONS = {
  'domain.check': operation({
    summary: {
      'zh-CN': '检查域名：解析、证书、源站与首次请求',
      en: 'Checks whether the name points here, its certificate and its origin',
    },
    request: request({ domain_id: identifier }),
    data: CHECK_DATA,
    sample: {
      request: { domain_id: '1001' },
      data: {
        dns: {
          state: 'missing',
          found: [],
          resolvers: [{ resolver: '192.0.2.53', state: 'missing' }],
        },
        certificate: { state: 'valid', ssl_key: '5f0c1d2e3a4b5c6d7e8f90a1b2c3d4e5', expires_at: 1777608000 },
        origin: {
          origin: '203.0.113.10:8080',
          address: '203.0.113.10',
          connect_ms: 12,
          tls: '',
          status: 200,
          cacheable: '0',
          why: 'noStore',
        },
        seen_at: 1769832000,
      },
    },
  }),
};

/** The longest host with its port, and the longest path of a probe. */
const MAX_HOST_LENGTH = 300;
const MAX_PATH_LENGTH = 1024;

export const PROBE_OPERATIONS = {
  'origin.probe': operation({
    summary: {
      'zh-CN': '试连一个源站（无需先添加域名）',
      en: 'Tries an origin, before there is a domain for it',
    },
    request: request({
      origin: {
        ...text({ min: 1, max: MAX_HOST_LENGTH }),
        expects: {
          'zh-CN': '域名、域名:端口、IP、IP:端口或 [IPv6]:端口',
          en: 'host, host:port, IP, IP:port or [IPv6]:port',
        },
      },
      source_type: optional(sourceType),
      sourcehost: optional(sourceHost),
      domain: optional(text({ max: MAX_HOST_LENGTH })),
      path: optional(
        matching(new RegExp(`^/[!-~]{0,${MAX_PATH_LENGTH - 1}}$`), {
          'zh-CN': `以 / 开头的路径，至多 ${MAX_PATH_LENGTH} 个可见 ASCII 字符（默认 /）`,
          en: `a path that begins with /, at most ${MAX_PATH_LENGTH} visible ASCII characters (default: /)`,
        }),
      ),
    }),
    data: ORIGIN_CHECK,
    sample: {
      request: { origin: '203.0.113.10:8080', source_type: 'http', domain: 'www.example.com' },
      data: {
        origin: '203.0.113.10:8080',
        address: '203.0.113.10',
        connect_ms: 12,
        tls: '',
        status: 200,
        cacheable: '0',
        why: 'noStore',
      },
    },
  }),
};

export const TAIL_OPERATIONS = {
  'log.tail': operation({
    summary: {
      'zh-CN': '实时跟踪域名的日志：返回一个限时的地址，日志从该地址逐行读取',
      en: "Follows a domain's log: returns an address, valid for a minute, that streams its lines",
    },
    request: request({
      domain_id: identifier,
      filter: optional({
        ...text({ max: MAX_FILTER_LENGTH }),
        expects: {
          'zh-CN': '以空格分隔的条件，如 status=5xx path=/api/*',
          en: 'terms such as status=5xx path=/api/*, divided by blanks',
        },
      }),
      seconds: optional(integer(1, MAX_TAIL_SECONDS)),
    }),
    data: z.object({
      url: z.string().describe('GET it: one JSON object in each line'),
      expires_at: seconds.describe('until when it can be opened, Unix seconds'),
    }),
    sample: {
      request: { domain_id: '1001', filter: 'status=5xx', seconds: 60 },
      data: {
        url: 'http://127.0.0.1:8700/tails/1/1001?filter=status%3D5xx&seconds=60&expires=1769832060&key=a&signature=b',
        expires_at: 1769832060,
      },
    },
  }),
};

/** What each term of a filter has to be. */
export const FILTER_EXPECTS = {
  status: { 'zh-CN': '状态码或其类别，如 404 或 5xx', en: 'statuses or classes of them, such as 404,5xx' },
  method: { 'zh-CN': '请求方法，如 GET,HEAD', en: 'methods such as GET,HEAD' },
  path: {
    'zh-CN': '路径的开头，或以 * 代表任意文本的整个路径，如 /api/*.json',
    en: 'the beginning of a path, or a whole one with * for any text, such as /api/*.json',
  },
  client: { 'zh-CN': 'IP 地址或网段，如 203.0.113.0/24', en: 'addresses or networks such as 203.0.113.0/24' },
  cache: {
    'zh-CN': 'hit、miss、denied、error，或日志中的缓存代码，如 TCP_STALE_HIT',
    en: 'hit, miss, denied, error, or cache codes of the log such as TCP_STALE_HIT',
  },
  edge: { 'zh-CN': '节点名称', en: 'names of edges' },
} as const;
