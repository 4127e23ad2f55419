/** What is remembered of who was let in changes no answer: each is that of the rules, whoever asked before. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { SiteAccess } from '#sites/access.ts';
import { compileSite } from '#sites/compile.ts';
import type { AccessSpec } from '#sites/spec.ts';
import { denialOf } from './access.ts';
import {
  type AskingConnection,
  asksOf,
  type GuardedAnswer,
  isClientLetIn,
  isLetIn,
  NOBODY,
  originWords,
  type RefererPlace,
} from './let-in.ts';

const RULES: AccessSpec = {
  deniedAddresses: ['192.0.2.0/24', '2001:db8::/32'],
  referer: { mode: 'allow', allowsBlank: false, entries: ['a.test', '*.b.test:8080', '203.0.113.9'] },
  deniedUserAgents: ['robot', '*crawler*1*'],
};
const ADDRESSES = ['192.0.2.1', '198.51.100.1', '2001:db8::1', '::1', ''];
const LONG = `Browser/3 ${'x'.repeat(300)}`;
const AGENTS = [undefined, LONG, `${LONG} robot`, 'Browser/1', 'A robot', 'Browser/2', 'the crawler 1'];
const REFERERS = [
  '',
  ...[
    'http://a.test',
    'https://www.a.test',
    'http://a.test.evil.test',
    'http://b.test:8080',
    'http://x.b.test:8080',
    'http://203.0.113.9',
  ].flatMap((origin) =>
    ['', '/', '/page?q', '?q', '#f', '.test/', ':8080/', '@a.test/', '\\', ' '].map((rest) => origin + rest),
  ),
  'http://b.test:80801/',
  'HTTP://A.test/',
  'about:blank',
  `http://${'a'.repeat(70)}.a.test/`,
];

function accessOf(access: AccessSpec): SiteAccess {
  const origins = {
    protocol: 'http',
    primary: [{ host: '127.0.0.1', port: 1 }],
    backup: [],
    hostHeader: '',
    probePath: '',
  } as const;
  const result = compileSite({ id: 1, name: 'a.test', type: 'static', state: 'open', origins, access }, 1);
  assert.equal(result.kind, 'site');
  return result.kind === 'site' ? result.site.access : {};
}

/** Behind a key of two words, which stays as it is. */
function answerOf(access: SiteAccess): GuardedAnswer {
  const asks = asksOf(access);
  const key = new Int32Array(KEY.length + originWords(asks));
  key.set(KEY);
  return { site: { access }, asks, letInAddress: NOBODY, letInUserAgent: NOBODY, key, keyWords: KEY.length };
}
const KEY = [7, -7];

/** Each text is made once, as where it comes again on a connection. */
class Connection implements AskingConnection<RefererPlace> {
  readonly clientAddress: string;
  readonly passed: AskingConnection<RefererPlace>['passed'] = { access: undefined, userAgent: undefined };
  userAgent: string | undefined;

  constructor(clientAddress: string) {
    this.clientAddress = clientAddress;
  }

  userAgentOf(): string | undefined {
    return this.userAgent;
  }

  refererOf(bytes: Buffer, { refererStart, refererEnd }: RefererPlace): string | undefined {
    return refererStart === refererEnd ? undefined : bytes.toString('latin1', refererStart, refererEnd);
  }
}

describe('who was let in', () => {
  const request = fc.record({
    asTexts: fc.boolean(),
    connection: fc.nat({ max: ADDRESSES.length * 2 - 1 }),
    site: fc.nat({ max: 1 }),
    userAgent: fc.constantFrom(...AGENTS),
    referer: fc.constantFrom(...REFERERS),
  });
  const lists = [
    RULES,
    { ...RULES, referer: { mode: 'deny', allowsBlank: true, entries: ['a.test'] } },
    { ...RULES, referer: { mode: 'deny', allowsBlank: false, entries: ['a.test'] } },
    { ...RULES, referer: { mode: 'allow', allowsBlank: true, entries: ['a.test'] } },
    { deniedUserAgents: ['^$'] },
    {},
  ] as const;

  test('law: is asked about as if it came for the first time', () => {
    fc.assert(
      fc.property(fc.constantFrom(...lists), fc.array(request, { maxLength: 60 }), (rules, requests) => {
        const sites = [accessOf(rules), accessOf({ deniedAddresses: ['198.51.100.1'] })];
        const answers = sites.map(answerOf);
        const connections = [...ADDRESSES, ...ADDRESSES].map((address) => new Connection(address));
        for (const { asTexts, connection, site, userAgent, referer } of requests) {
          const asking = connections[connection] ?? new Connection('');
          asking.userAgent = userAgent;
          const bytes = Buffer.from(`x${referer}/a.test`, 'latin1');
          const place = { refererStart: 1, refererEnd: 1 + referer.length };
          const client = {
            clientAddress: asking.clientAddress,
            userAgent,
            referer: referer === '' ? undefined : referer,
          };
          const isDenied = denialOf(sites[site] ?? {}, client) !== undefined;
          const answer = answers[site] ?? answerOf({});
          const isIn = asTexts ? isClientLetIn(answer, client) : isLetIn(answer, asking, bytes, place);
          assert.equal(isIn, !isDenied, JSON.stringify(client));
          assert.notEqual(asking.passed.userAgent, LONG); // is not kept in memory
          assert.notEqual(answer.letInUserAgent, LONG);
        }
        for (const { key } of answers) assert.deepEqual([...key.subarray(0, KEY.length)], KEY);
      }),
      { numRuns: 300 },
    );
  });
});
