/** Remembering clients changes no answer: each is that of the rules, regardless of earlier requests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { SiteAccess, Subject } from '#sites/access.ts';
import { compileSite } from '#sites/compile.ts';
import { createCompileTools } from '#sites/compile-tools.ts';
import { PackedAddresses } from '#sites/packed-addresses.ts';
import { remember } from '#sites/remember.ts';
import type { AccessSpec } from '#sites/spec.ts';
import { denialOf } from '../stages/access.ts';
import { HeadClient } from '../transport/http1/head-client.ts';
import { RequestHead } from '../transport/http1/read-head.ts';
import {
  type AskingClient,
  asksOf,
  type GuardedAnswer,
  isLetIn,
  NOBODY,
  type RememberedClient,
  type RULE_ASKS,
} from './access-memo.ts';

/** Every rule that shortcuts check themselves. Its entries must refuse some of the clients below. */
const RULES = {
  deniedAddresses: ['192.0.2.0/24', '2001:db8::/32'],
  referer: {
    mode: 'allow',
    allowsBlank: false,
    entries: ['a.test', '*.b.test:8080', '203.0.113.9', 'xn--4ca.test', 'd.test:80'],
  },
  deniedUserAgents: ['robot', '*crawler*1*'],
  deniedLists: ['1/bad'],
  allowedLists: ['1/none', '1/good'],
} as const satisfies AccessSpec & Record<Exclude<AnsweredRule, 'referers'>, unknown>;
type AnsweredRule = Exclude<keyof typeof RULE_ASKS, 'refusal'>;
const LISTS: Readonly<Record<string, readonly string[]>> = {
  '1/bad': ['198.51.100.0/24'],
  '1/good': ['198.51.100.0/24', '2001:db8::/32', '::1'],
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
  ...['', '/', ':80/', ':81/', ':8', '.:81/'].map((rest) => `http://d.test${rest}`),
  `http://${'a'.repeat(70)}.a.test/`,
  ...[
    'http://a.test:80/',
    'https://a.test:443',
    'http://a.test:443/',
    'http://a.test:0080/',
    'http://a.test:8/',
    'http://a.test:/',
  ],
  ...[
    'http://x.b.test:808/',
    'http://x.b.test:08080/',
    'https://x.b.test:8080?',
    'ftp://a.test/',
    '//a.test/',
    'a.test/',
    'http:a.test/',
  ],
  ...[
    'http://a.test./',
    'http://a.test../',
    'http://.a.test/',
    'http://u@a.test/',
    'http://a.test@c.test/',
    'http:\\\\a.test\\',
  ],
  ...[
    'http://\u00c3\u00a4.test/',
    'http://xn--4ca.test/',
    'http://\u00e4.test/',
    'http://XN--4CA.test/',
    'http://xn--4ca.test.c.test/',
  ],
  ...[
    'http://a%2etest/',
    'http://a.te\tst/',
    'http://[::ffff:203.0.113.9]/',
    'http://0xcb007109/',
    'http://203.0.113.9.a.test/',
  ],
  ...[
    'http://a.test\u00ad/',
    'http://a\u3002test/'.replace('\u3002', '\u00e3\u0080\u0082'),
    ' http://a.test/',
    '-',
    'http://',
  ],
  `http://a.test/${'p'.repeat(2_000)}`,
  `http://${'a'.repeat(51)}.a.test/`, // an origin of the longest remembered length, and a longer one
  `http://${'a'.repeat(52)}.a.test/`,
];

const oneOrigin = remember((text: string) => text, 2);

const TOOLS = createCompileTools({
  addressList: (key) => new PackedAddresses(LISTS[key] ?? []),
  urlKeys: () => [],
});

function accessOf(access: AccessSpec): SiteAccess {
  const origins = {
    protocol: 'http',
    primary: [{ host: '127.0.0.1', port: 1 }],
    backup: [],
    hostHeader: '',
    probePath: '',
  } as const;
  const result = compileSite({ id: 1, name: 'a.test', type: 'static', state: 'open', origins, access }, 1, TOOLS);
  assert.equal(result.kind, 'site');
  return result.kind === 'site' ? result.site.access : {};
}

function answerOf(access: SiteAccess): GuardedAnswer {
  const memory = { letInAddress: NOBODY, letInUserAgent: NOBODY, letInOrigin: NOBODY };
  return { site: { access }, asks: asksOf(access), ...memory };
}

interface Connection {
  /** Client of HTTP/1.1: bytes, with a head that says where the fields are. */
  readonly client: HeadClient;
  readonly head: RequestHead;
  /** Client of HTTP/2: texts. */
  readonly texts: { -readonly [K in keyof RememberedClient]: RememberedClient[K] };
}

/** Connections of one worker: equal texts are shared, except those that were forgotten. */
function connect(): Connection[] {
  const itself = (text: string) => text;
  const shortcuts = { oneAddress: remember(itself, 2), oneUserAgent: remember(itself, 2) };
  return [...ADDRESSES, ...ADDRESSES].map((address) => {
    const head = new RequestHead();
    const client = new HeadClient(copyOf(address), head, shortcuts);
    const passed = { access: undefined, userAgent: undefined };
    return {
      client,
      head,
      texts: { clientAddress: copyOf(address), referer: undefined, userAgent: undefined, passed, counted: undefined },
    };
  });
}

/** Returns an equal string at another place in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Sets these fields on both forms of a connection's client. In the bytes they lie between others. */
function setFields({ client, head, texts }: Connection, referer: string, userAgent: string | undefined): void {
  head.refererStart = 1;
  head.refererEnd = head.refererStart + referer.length;
  head.userAgentStart = head.refererEnd + 1;
  head.userAgentEnd = head.userAgentStart + (userAgent ?? '').length;
  client.bytes = Buffer.from(`x${referer}/${userAgent ?? ''}/a.test`, 'latin1');
  texts.referer = referer === '' ? undefined : referer;
  texts.userAgent = userAgent;
}

function clientValue({ clientAddress, referer, userAgent }: AskingClient, subject: Subject): string | undefined {
  const values: Partial<Record<Subject, string | undefined>> = {
    address: clientAddress,
    referer,
    'user-agent': userAgent,
  };
  return values[subject];
}

describe('remembered clients', () => {
  const request = fc.record({
    asTexts: fc.boolean(),
    connection: fc.nat({ max: ADDRESSES.length * 2 - 1 }),
    site: fc.nat({ max: 1 }),
    answer: fc.nat({ max: 1 }),
    /** Index of the rules that the site has from then on; beyond the list, they stay. */
    rules: fc.nat({ max: 200 }),
    userAgent: fc.constantFrom(...AGENTS),
    referer: fc.nat({ max: 7 }),
  });
  // Few, so that each recurs.
  const few = fc.array(fc.constantFrom(...REFERERS), { minLength: 4, maxLength: 8 });
  const lists = [
    RULES,
    { ...RULES, referer: { mode: 'deny', allowsBlank: true, entries: ['a.test'] } },
    { ...RULES, referer: { mode: 'deny', allowsBlank: false, entries: ['a.test'] } },
    { ...RULES, referer: { mode: 'allow', allowsBlank: true, entries: ['a.test'] } },
    { deniedUserAgents: ['^$'] },
    { deniedAddresses: ['198.51.100.1'], deniedUserAgents: ['Browser/1', '^$'] },
    { deniedAddresses: ['198.51.100.1'] },
    { deniedLists: ['1/bad'] },
    { allowedLists: ['1/good'], deniedUserAgents: ['Browser/1'] },
    {},
  ] as const;

  test('law: a remembered client gets the answer that it would get for the first time', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60, size: 'max' }), few, (requests, referers) => {
        const put = (rules: number) => {
          const access = accessOf(lists[rules] ?? {});
          return { access, answers: [answerOf(access), answerOf(access)] };
        };
        const sites = [put(0), put(5)];
        const connections = connect();
        for (const { asTexts, connection, site, answer: which, rules, userAgent, ...rest } of requests) {
          const referer = referers[rest.referer] ?? '';
          if (rules < lists.length) sites[site] = put(rules);
          const { access = {}, answers = [] } = sites[site] ?? {};
          const [asking, answer] = [connections[connection], answers[which]];
          assert.ok(asking !== undefined && answer !== undefined);
          setFields(asking, referer, userAgent);
          const client = asTexts ? asking.texts : asking.client;
          assert.equal(
            isLetIn(answer, client, oneOrigin),
            denialOf(access, (subject) => clientValue(asking.texts, subject)) === undefined,
            JSON.stringify(asking.texts),
          );
          assert.notEqual(client.passed.userAgent, LONG); // not kept in memory
          assert.notEqual(answer.letInUserAgent, LONG);
          assert.ok(answer.letInOrigin.length <= 64);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('an unknown rule is left to the pipeline, for every client', () => {
    const [connection] = connect();
    assert.ok(connection !== undefined);
    const later = { ...accessOf({}), ofLaterRelease: true };
    assert.equal(isLetIn(answerOf(later), connection.client, oneOrigin), false);
    assert.equal(isLetIn(answerOf(accessOf({})), connection.client, oneOrigin), true);
  });
});
