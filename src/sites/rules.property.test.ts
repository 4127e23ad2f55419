/** The packed lists of generated sites against the plainest code that does what they do: rule by rule, in their order. */
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { splitTarget } from '#http/target.ts';
import { createAddressSet } from '#lib/cidr.ts';
import { unreachable } from '#lib/unreachable.ts';
import { POLICY_MATCHES, type PolicyMatch } from '#model/rules.ts';
import { createCompileTools } from './compile-tools.ts';
import { PackedAddresses } from './packed-addresses.ts';
import { SitePolicies, type SitePolicy } from './policies.ts';
import type { PolicyTarget } from './policy.ts';
import { RefererList } from './referer.ts';
import type { CachingSpec, PolicySpec } from './spec.ts';
import { UserAgentList } from './user-agent.ts';

/** Sites of one edge share them, so what one leaves behind must not matter to another. */
const tools = createCompileTools();
const RUNS = { numRuns: 2_000 };

const segment = fc.constantFrom('a', 'b', 'ab', 'a.b', 'A', 'img', 'v1', 'v2', '%41', '图', 'x.tar.gz', 'y.JPG', '');
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
const ending = fc.constantFrom('b', 'gz', 'tar.gz', 'jpg', '.JPG', '图', 'z');
const pattern = fc.constantFrom(
  '^/a',
  '^/(a|img)/',
  '/v[0-9]+',
  '/v1/?$',
  'img/v2/',
  'tar\\.gz$',
  '\\.(jpg|gz)$',
  '(?i)\\.(JPG|GZ)$',
  '^https?://[^/]+/img',
  '^http://www\\.example\\.com/a',
  'example\\.com/ab|/b',
  '(img|tar|xyz)',
  'q=(one|two)',
  '\\?q=',
  '图',
  '(img)?',
  '(v1/){2}',
  '[a-b]+$',
);
/** A kind without contents does not compile. */
const CONTENTS: Readonly<Record<PolicyMatch, fc.Arbitrary<string>>> = {
  prefix: path,
  suffix: fc.array(ending, { minLength: 1, maxLength: 3 }).map((endings) => endings.join()),
  regex: pattern,
};
const policy: fc.Arbitrary<PolicySpec> = fc
  .record({
    kind: fc.oneof(
      ...POLICY_MATCHES.map((match) => fc.record({ match: fc.constant(match), content: CONTENTS[match] })),
    ),
    scheme: fc.option(fc.constantFrom('http' as const, 'https' as const), { nil: undefined, freq: 3 }),
    priority: fc.integer({ min: 1, max: 3 }),
    isCached: fc.boolean(),
    lifetimeSeconds: fc.constantFrom(0, 60, 31_536_000, 99_999_999_999),
  })
  .map(({ kind, scheme, ...others }) => ({ ...kind, ...others, ...(scheme !== undefined && { scheme }) }));
const caching: fc.Arbitrary<CachingSpec> = fc.record({
  followsOrigin: fc.boolean(),
  prefixFirst: fc.boolean(),
  policies: fc.array(policy, { minLength: 1, maxLength: 12 }),
});
const target: fc.Arbitrary<PolicyTarget> = fc
  .record({
    scheme: fc.constantFrom('http' as const, 'https' as const),
    host: fc.constantFrom('www.example.com', 'img.example'),
    path,
    query: fc.constantFrom('', '?', '?q=one', '?q=/v1/v1/'),
  })
  .map(({ path: written, query, ...server }) => ({ ...server, ...splitTarget(encodeURI(decodeURI(written)) + query) }));

test('the winning policy is the first that matches, in the order of precedence', () => {
  fc.assert(
    fc.property(caching, fc.array(target, { minLength: 1, maxLength: 8 }), (spec, targets) => {
      const compiled = new SitePolicies(spec, tools);
      for (const asked of targets) {
        const winner = plainWinner(spec, asked);
        assert.deepEqual(compiled.winnerFor(asked), winner);
        assert.equal(compiled.lifetimeFor(asked), winner?.lifetimeSeconds);
      }
    }),
    RUNS,
  );
});

/** One comparison at a time: whether the one goes before the other. */
function plainWinner({ policies, prefixFirst }: CachingSpec, asked: PolicyTarget): SitePolicy | undefined {
  const matching = policies.filter((each) => plainMatch(each, asked));
  const best = matching.reduce<PolicySpec | undefined>((first, next) => {
    if (first === undefined) return next;
    const isPrefix = next.match === 'prefix';
    if (prefixFirst && isPrefix !== (first.match === 'prefix')) return isPrefix ? next : first;
    if (next.priority !== first.priority) return next.priority > first.priority ? next : first;
    return prefixFirst && isPrefix && next.content.length > first.content.length ? next : first;
  }, undefined);
  if (best === undefined) return undefined;
  const lifetimeSeconds = best.isCached ? Math.min(best.lifetimeSeconds, 31_536_000) : 0;
  return { match: best.match, content: best.content, scheme: best.scheme, lifetimeSeconds };
}

function plainMatch({ match, content, scheme }: PolicySpec, asked: PolicyTarget): boolean {
  const { keyPath, query } = asked;
  if (scheme !== undefined && scheme !== asked.scheme) return false;
  if (match === 'prefix') {
    const { keyPath: prefix } = splitTarget(encodeURI(decodeURI(content)));
    return keyPath === prefix || keyPath.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
  }
  if (match === 'suffix') {
    const name = keyPath.slice(keyPath.lastIndexOf('/')).toLowerCase();
    return content.split(',').some((end) => name.endsWith(encodeURI(`.${end.replace(/^\./, '')}`).toLowerCase()));
  }
  if (match !== 'regex') return unreachable(match);
  const expression = RE2JS.compile(content.replace('图', encodeURI('图')));
  return [keyPath + query, `${asked.scheme}://${asked.host}${keyPath}${query}`].some((text) => expression.test(text));
}

const label = fc.constantFrom('a', 'b', 'shop', 'xn--bcher-kva');
const host = fc
  .array(label, { minLength: 1, maxLength: 3 })
  .map((labels) => `${labels.join('.')}.test`)
  .chain((name) => fc.constantFrom(name, name, name, '192.0.2.1', '[2001:db8::1]'));
const port = fc.constantFrom('', '', '', ':81', ':443', ':80');
const refererEntry = fc
  .tuple(fc.constantFrom('', '', '*.'), host, port)
  .map(([mark, name, at]) => (/[.:]\d|::/.test(name) ? name + at : mark + name + at));

test('a Referer is on the list if its host is named, or is below a named one, at the named port', () => {
  const page = fc
    .tuple(fc.constantFrom('http', 'https'), host, port)
    .map(([scheme, name, at]) => `${scheme}://${name}${at}/a.b`);
  const entries = fc.array(refererEntry, { maxLength: 8 });
  fc.assert(
    fc.property(entries, fc.constantFrom('deny', 'allow'), fc.array(page, { maxLength: 8 }), (list, mode, pages) => {
      const referers = new RefererList({ mode, allowsBlank: true, entries: list }, tools.signature);
      for (const referer of pages) {
        assert.equal(
          referers.denies(referer),
          list.some((entry) => plainReferer(entry, referer)) === (mode === 'deny'),
          referer,
        );
      }
    }),
    RUNS,
  );
});

function plainReferer(entry: string, referer: string): boolean {
  const { protocol, hostname, port: written } = new URL(referer);
  const [, mark = '', name = '', wanted = ''] = /^(\*\.)?(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  const isAt = wanted === '' || Number(wanted) === Number(written || (protocol === 'https:' ? 443 : 80));
  const isBelow = isIP(name.replace(/[[\]]/g, '')) === 0 && hostname.endsWith(`.${name}`);
  return isAt && (isBelow || (mark === '' && hostname === name));
}

test('a User-Agent is on the list if it contains a part, or matches a pattern from end to end', () => {
  const entry = fc
    .array(fc.constantFrom('*', 'a', 'ab', 'bot', 'robot/1', 'Яндекс', ' '), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('').toLowerCase().trim())
    .filter((text) => text !== '');
  const userAgent = fc.array(fc.constantFrom('a', 'b', 'ab', 'BOT', 'robot/1', ' ', utf8('Яндекс')), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), fc.array(userAgent, { maxLength: 8 }), (entries, agents) => {
      const list = new UserAgentList(entries, tools.readUserAgent);
      for (const parts of agents) {
        const text = Buffer.from(parts.join(''), 'latin1').toString('utf8').toLowerCase();
        const isListed = entries.some((each) =>
          each.includes('*')
            ? new RegExp(`^${each.replaceAll('*', '.*')}$`, 's').test(text)
            : text !== '' && text.includes(each),
        );
        assert.equal(list.denies(parts.join('')), text === '' ? entries.includes('*') : isListed, text);
      }
    }),
    RUNS,
  );
});

function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

test('an address is on the list if its first bits are those of a network', () => {
  const v4 = fc.tuple(
    fc.constantFrom(0, 10, 192, 255),
    fc.constantFrom(0, 128, 255),
    fc.constantFrom(0, 127, 128, 255),
  );
  const v4Text = v4.map(([a, b, c]) => `${a}.${b}.0.${c}`);
  const v6Text = fc
    .array(fc.constantFrom('0', '1', '2001', 'ffff', '8000'), { minLength: 7, maxLength: 7 })
    .map((groups) => ['2001', ...groups].join(':'));
  const network = fc.oneof(
    fc.tuple(v4Text, fc.constantFrom(0, 1, 7, 8, 9, 16, 24, 25, 31, 32)),
    fc.tuple(v6Text, fc.constantFrom(0, 1, 16, 32, 33, 64, 127, 128)),
  );
  fc.assert(
    fc.property(
      fc.array(network, { maxLength: 10 }),
      fc.array(fc.oneof(v4Text, v6Text), { maxLength: 10 }),
      (networks, addresses) => {
        const texts = networks.map(([address, prefix]) => `${address}/${prefix}`);
        const packed = new PackedAddresses(texts, tools.addressUnits);
        const sets = { packed: { has: (address: string) => packed.denies(address) }, list: createAddressSet(texts) };
        for (const address of addresses) {
          const isListed = networks.some(([base, prefix]) => {
            return isIP(base) === isIP(address) && bitsOf(base).slice(0, prefix) === bitsOf(address).slice(0, prefix);
          });
          for (const [name, set] of Object.entries(sets)) {
            assert.equal(set.has(address), isListed, `${name} ${address}`);
            if (isIP(address) === 4) assert.equal(set.has(`::ffff:${address}`), isListed, `${name} ${address}`);
          }
        }
      },
    ),
    RUNS,
  );
});

/** Returns the bits of an address; an IPv6 address must have all groups written. */
function bitsOf(address: string): string {
  const [parts, base, width] = isIP(address) === 4 ? [address.split('.'), 10, 8] : [address.split(':'), 16, 16];
  return parts.map((part) => Number.parseInt(part, base).toString(2).padStart(width, '0')).join('');
}
