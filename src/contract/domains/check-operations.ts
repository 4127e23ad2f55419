/** What customers ask about a domain as it is now: whether its name points here, what becomes of a request, its log. */
import * as z from 'zod';
import { FLAG_TEXT, identifier, integer, lines, matching, optional, seconds, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';

const DNS_STATES = ['here', 'elsewhere', 'missing', 'mixed', 'unknown'] as const;
const CERTIFICATE_STATES = ['off', 'valid', 'notYetValid', 'expired', 'otherName', 'missing'] as const;
const ORIGIN_STATES = ['usable', 'down', 'originDns', 'originForbidden'] as const;

/** The longest URL and the longest header of an explained request, and how many there may be. */
const MAX_URL_LENGTH = 2048;
const MAX_HEADERS = 20;
const MAX_HEADER_LENGTH = 256;
const MAX_FILTER_LENGTH = 1000;
export const MAX_TAIL_SECONDS = 600;

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
  origin: z.object({
    origin: z.string().describe('the first primary origin, host:port; empty: the domain has none'),
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
  }),
  seen_at: seconds.describe('start of the first hour with a request that is in the statistics, Unix seconds; 0: none'),
});

const EXPLAIN_DATA = z.object({
  edge: z.string().describe('the edge that answered'),
  steps: z
    .array(z.object({ stage: z.string(), found: z.string() }))
    .describe('what the stages of the edge decide, in their order'),
  x_cache: z.string().describe('`X-Cache` as far as it is known without an origin; empty: the TLS handshake fails'),
  asks_origin: FLAG_TEXT.describe('1: an origin would be asked'),
  origins: z
    .array(
      z.object({
        origin: z.string().describe('host:port'),
        state: z
          .enum(ORIGIN_STATES)
          .describe('down: it failed probes; originDns: no address; originForbidden: edges do not connect there'),
      }),
    )
    .describe('the origins as this edge knows them; of many with long names, the first'),
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
  'domain.explain': operation({
    summary: {
      'zh-CN': '说明节点会如何处理一个请求，不访问源站',
      en: "Explains how an edge would handle a viewer's request, without contacting an origin",
    },
    request: request({
      domain_id: identifier,
      url: {
        ...text({ min: 1, max: MAX_URL_LENGTH }),
        expects: {
          'zh-CN': `该域名下以 http:// 或 https:// 开头的网址，至多 ${MAX_URL_LENGTH} 个字符`,
          en: `a URL of the domain that begins with http:// or https://, at most ${MAX_URL_LENGTH} characters`,
        },
      },
      method: optional(
        matching(/^[A-Z]{1,32}$/, {
          'zh-CN': '大写字母的请求方法（默认 GET）',
          en: 'a method in capital letters (default: GET)',
        }),
      ),
      headers: optional(
        lines({
          maxEntries: MAX_HEADERS,
          maxLength: MAX_HEADER_LENGTH,
          expects: {
            'zh-CN': `请求头的数组，或每行一个请求头的文本，至多 ${MAX_HEADERS} 个，每个形如 "Referer: https://example.com/"，至多 ${MAX_HEADER_LENGTH} 个字符，不含 Host`,
            en: `an array of header fields, or a text with one per line, at most ${MAX_HEADERS}, each such as "Referer: https://example.com/", at most ${MAX_HEADER_LENGTH} characters, without Host`,
          },
          each: {
            'zh-CN': `请求头，如 "Referer: https://example.com/"，至多 ${MAX_HEADER_LENGTH} 个字符`,
            en: `a header field such as "Referer: https://example.com/", at most ${MAX_HEADER_LENGTH} characters`,
          },
        }),
      ),
      client: optional({
        ...text({ max: 64 }),
        expects: {
          'zh-CN': '客户端的 IP 地址（默认 192.0.2.1，一个文档用地址）',
          en: "the client's IP address (default: 192.0.2.1, an address for documentation)",
        },
      }),
    }),
    data: EXPLAIN_DATA,
    sample: {
      request: { domain_id: '1001', url: 'http://www.example.com/a.jpg', headers: ['Referer: https://example.com/'] },
      data: {
        edge: 'local',
        steps: [{ stage: 'request', found: 'GET http://www.example.com/a.jpg from 192.0.2.1' }],
        x_cache: 'MISS',
        asks_origin: '1',
        origins: [{ origin: '203.0.113.10:8080', state: 'usable' }],
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
