/** What an edge would do with a request, also under settings that are not saved. docs/decisions/0645, 0675 */
import * as z from 'zod';
import { clearable, FLAG_TEXT, identifier, lines, matching, optional, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { GIVEN_SETTINGS } from './setting-topics.ts';

const ORIGIN_STATES = ['usable', 'down', 'originDns', 'originForbidden'] as const;

/** The longest URL and the longest header of an explained request, and how many there may be. */
const MAX_URL_LENGTH = 2048;
const MAX_HEADERS = 20;
const MAX_HEADER_LENGTH = 256;

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
  settings: z
    .enum(['stored', 'given'])
    .describe('given: those of `set` were taken; stored: there were none, or the edge is of an earlier release'),
});

export const EXPLAIN_OPERATION = {
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
            'zh-CN': `请求头（Host 除外），如 "Referer: https://example.com/"，至多 ${MAX_HEADER_LENGTH} 个字符`,
            en: `a header field other than Host, such as "Referer: https://example.com/", at most ${MAX_HEADER_LENGTH} characters`,
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
      set: clearable(GIVEN_SETTINGS),
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
        settings: 'stored',
      },
    },
  }),
};
