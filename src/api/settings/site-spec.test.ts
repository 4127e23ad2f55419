import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeRequest } from '#contract/decode.ts';
import { POLICY_KINDS } from '#contract/domains/policy-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS, type RequestOf } from '#contract/operations.ts';
import { WIRE_SWITCHES } from '#contract/settings/settings.ts';
import { DEFAULT_SETTINGS, type Domain, type DomainSettings } from '#model/domain.ts';
import { compileSite } from '#sites/compile.ts';
import { findRedirectLoop } from '#sites/redirects.ts';
import { READ } from '../wire/wire.ts';
import { toSiteSpec } from './site-spec.ts';

const BASE = { accountId: 1, id: 7, state: 'open', createdAt: 0, settingRevision: 0 } as const;

/** The domain that `addDomain` would make of a request; `undefined` when it is refused. That origins are there, the handler sees to. */
function domainOf(request: unknown): Domain | undefined {
  const decoded = OPERATIONS['domain.add'].request.schema.safeParse(request);
  if (!decoded.success) return undefined;
  const wanted: RequestOf<'domain.add'> = decoded.data;
  return unlessRefused(() => {
    const { name, type, icpNumber, remark, ...settings } = READ['domain.add'](wanted);
    return { ...BASE, name, type, icpNumber, remark, settings: { ...DEFAULT_SETTINGS, ...settings } };
  });
}

const ORDINARY = { name: 'a.example', type: 'static', icpNumber: '', remark: '' } as const;

interface SettingsFrom {
  readonly request: fc.Arbitrary<Readonly<Record<string, unknown>>>;
  /** Throws `ServiceError` for what is refused. */
  readonly settingsOf: (wanted: Readonly<Record<string, unknown>>) => Partial<DomainSettings>;
}

type Setter = Extract<keyof typeof READ, `config.set${string}`>;

/** What a handler is given. */
function readAs<N extends Setter>(name: N, wanted: Readonly<Record<string, unknown>>): ReturnType<(typeof READ)[N]> {
  const decoded = decodeRequest(OPERATIONS[name].request, { domain_id: 7, ...wanted });
  if (decoded.kind === 'error') throw new ServiceError(decoded.code, decoded.parameters);
  // Both are of the same operation, which the compiler loses among all of them.
  const read = READ[name] as (request: unknown) => ReturnType<(typeof READ)[N]>;
  return read(decoded.value);
}

function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** Text of the letters that names and addresses are made of, so that much of it is accepted. */
const word = fc.string({ unit: fc.constantFrom(...'ab09-_.:/?#%[]*@ ßÄ例\n\t'), maxLength: 20 });
const host = fc.oneof(
  word,
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]:81`),
);

const list = (entry: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.array(entry, { maxLength: 4 }),
    fc.array(entry, { maxLength: 4 }).map((entries) => entries.join(',')),
  );
const anyText = fc.string({ unit: 'grapheme', maxLength: 30 });
const network = fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(130)).map(([address, bits]) => `${address}/${bits}`);
const pattern = fc.string({ unit: fc.constantFrom(...'ab./\\[]()*+?{}1,^$|dwsbi:<=!- 例\n'), maxLength: 12 });
const policy = fc.record(
  {
    is_cache: fc.constantFrom('0', '1', 0, 1),
    priority: fc.integer({ min: 0, max: 100 }),
    policy_type: fc.constantFrom(...Object.values(POLICY_KINDS).map(({ type }) => type)),
    policy_scheme: fc.constantFrom('http', 'https', ''),
    content: fc.oneof(
      pattern,
      anyText,
      word.map((path) => `/${path}`),
      list(word).map(String),
    ),
    time_y: fc.constantFrom(0, 1, '100'),
    time_d: fc.constantFrom(36_500, 0),
    time_s: fc.constantFrom(0, 1, '3153600000'),
  },
  { requiredKeys: ['is_cache', 'policy_type', 'content', 'policy_scheme'] },
);

const path = fc.record({
  path_type: fc.constantFrom(...Object.values(POLICY_KINDS).map(({ type }) => type)),
  path: fc.oneof(
    pattern,
    anyText,
    word.map((text) => `/${text}`),
  ),
});

/** Each operation that sets something an edge has to compile: what it is asked, and what its handler makes of that. */
const SETTINGS_FROM: Readonly<Record<string, SettingsFrom>> = {
  setPolicyInfo: {
    request: fc.record({ use_header_setting: fc.constantFrom(0, '1'), policy: fc.array(policy, { maxLength: 2 }) }),
    settingsOf: (wanted) => ({ caching: readAs('config.setPolicies', wanted).caching }),
  },
  setRateLimits: {
    request: fc.record({
      limits: fc.array(
        fc
          .tuple(path, fc.constantFrom(1, '100000'), fc.constantFrom(1, '3600'), fc.constantFrom(undefined, '', 7))
          .map(([of, requests, seconds, burst]) => ({ ...of, requests, seconds, burst })),
        { maxLength: 2 },
      ),
    }),
    settingsOf: (wanted) => ({ rateLimits: readAs('config.setRateLimits', wanted).rateLimits }),
  },
  setRedirects: {
    request: fc.record({
      redirects: fc.array(
        fc
          .tuple(
            path,
            fc.oneof(
              fc.webUrl({ withQueryParameters: true, withFragments: true }),
              anyText.map((text) => `/${text}`),
              word.map((text) => `https://例.example/${text}`),
            ),
            fc.constantFrom(301, '308', ''),
          )
          .map(([of, target, status]) => ({ ...of, target, status })),
        { maxLength: 2 },
      ),
    }),
    settingsOf: (wanted) => {
      const { redirects } = readAs('config.setRedirects', wanted);
      return findRedirectLoop(redirects, ORDINARY.name) === undefined ? { redirects } : {};
    },
  },
  setResponseHeaders: {
    request: fc.record({
      headers: fc.array(
        fc.record({
          action: fc.constantFrom('set', 'add', 'remove'),
          name: fc.oneof(word, fc.constantFrom('X-A', 'Via', 'a b')),
          value: fc.oneof(word, anyText, fc.constant('')),
        }),
        { maxLength: 2 },
      ),
    }),
    settingsOf: (wanted) => ({ responseHeaders: readAs('config.setResponseHeaders', wanted).responseHeaders }),
  },
  setDomainAdvanced: {
    request: fc.record({
      ...Object.fromEntries(Object.keys(WIRE_SWITCHES.fields).map((name) => [name, fc.constantFrom(0, 1, '0', '1')])),
      expires: fc.constantFrom(0, '31536000', 31_536_000, 5),
      access_control_max_age: fc.constantFrom(0, '31536000'),
      forbid_http_code: fc.constantFrom('', 302, '403'),
      forbid_redirect_url: fc.oneof(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        anyText.map((path) => `https://例.example/${path}?${path}`),
        word.map((authority) => `http://${authority}`),
      ),
      html_403: anyText,
    }),
    settingsOf: (wanted) => {
      const { domainId: _domainId, plain, ...chosen } = readAs('config.setAdvanced', wanted);
      const { forbidRedirectUrl = '', html403 = '' } = chosen;
      return { ...plain, ...chosen, forbidRedirectUrl, html403 };
    },
  },
  setRefererInfo: {
    request: fc.record({
      referer_type: fc.constantFrom('1', 2),
      referer_blank: fc.constantFrom(0, 1),
      referer_str: list(fc.oneof(host, fc.webUrl(), anyText, fc.constant('*'))),
    }),
    settingsOf: (wanted) => {
      const { mode, allowsBlank = true, entries = [] } = readAs('config.setReferer', wanted);
      return { referer: { mode, allowsBlank, entries } };
    },
  },
  setUaInfo: {
    request: fc.record({ ua_control: fc.constant(1), ua_str: list(fc.oneof(anyText, pattern, word)) }),
    settingsOf: (wanted) => {
      const { isOn, entries = [] } = readAs('config.setUserAgent', wanted);
      return { userAgent: { isOn, entries } };
    },
  },
  setIpInfo: {
    request: fc.record({ ip_type: fc.constant(1), ip_str: list(fc.oneof(network, fc.ipV4(), fc.ipV6(), word)) }),
    settingsOf: (wanted) => {
      const { isOn, entries = [] } = readAs('config.setIp', wanted);
      return { ip: { isOn, entries } };
    },
  },
};

describe('a spec for the edges', () => {
  test('a spec for the edges compiles, whatever the API accepted', () => {
    let accepted = 0;
    const request = fc.record({
      domain: fc.oneof(
        host,
        fc.domain().map((name) => `*.${name}`),
      ),
      cdn_type: fc.constantFrom(1, 2, 3, 4, 6),
      data: fc.array(host, { minLength: 1, maxLength: 3 }),
      backup: fc.array(host, { maxLength: 2 }),
      source_type: fc.constantFrom('', 'http', 'https', 'protocol_follow'),
      sourcehost: fc.oneof(host, fc.constant('')),
      monitor_url: fc.oneof(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        word.map((path) => `http://a.example/${path}`),
        fc.string({ unit: 'grapheme', maxLength: 300 }).map((path) => `http://a.example/${path}?${path}`),
        fc.constant(''),
      ),
    });
    fc.assert(
      fc.property(request, (wanted) => {
        const domain = domainOf(wanted);
        if (domain === undefined || (domain.type !== 'live' && domain.settings.origins.length === 0)) return;
        accepted += 1;
        const compiled = compileSite(toSiteSpec(domain), 1);
        assert.equal(compiled.kind, 'site', JSON.stringify([compiled, wanted]));
      }),
      { numRuns: 3000, seed: 1 },
    );
    assert.ok(accepted > 50, `only ${accepted} were accepted`);
  });

  for (const [name, { request, settingsOf }] of Object.entries(SETTINGS_FROM)) {
    test(`a spec for the edges compiles, whatever ${name} accepted`, () => {
      let accepted = 0;
      fc.assert(
        fc.property(request, (wanted) => {
          const changed = unlessRefused(() => settingsOf(wanted));
          if (changed === undefined) return;
          accepted += 1;
          const settings = { ...DEFAULT_SETTINGS, origins: ['o.example'], ...changed };
          const spec = toSiteSpec({ ...BASE, ...ORDINARY, settings });
          const compiled = compileSite(JSON.parse(JSON.stringify(spec)), 1);
          assert.equal(compiled.kind, 'site', JSON.stringify([compiled, wanted]));
        }),
        { numRuns: 1000, seed: 1 },
      );
      assert.ok(accepted > 50, `only ${accepted} were accepted`);
    });
  }

  test('a spec for the edges is withheld while a domain waits for its review', () => {
    const domain = domainOf({ domain: 'a.example', cdn_type: 1, data: 'b.example' });
    assert.ok(domain !== undefined);
    assert.equal(toSiteSpec({ ...domain, state: 'pending' }), undefined);
  });

  test('a spec for the edges has only path and query of the probe', () => {
    const rows: readonly [string, string][] = [
      ['', ''],
      ['http://a.example', '/'],
      ['https://127.0.0.1:22/x/../y?z=1#w', '/y?z=1'],
      ['http://a.example/例', '/%E4%BE%8B'],
    ];
    for (const [monitorUrl, probePath] of rows) {
      const domain = domainOf({ domain: 'a.example', cdn_type: 1, data: 'b.example', monitor_url: monitorUrl });
      assert.ok(domain !== undefined);
      assert.equal(toSiteSpec(domain)?.origins.probePath, probePath);
    }
  });
});

test('a spec for the edges has path and query of a monitor URL, and on a wildcard domain a host that it covers', () => {
  const rows = [
    ['*.example.com', '', ''],
    ['*.example.com', 'http://m.example.com/status?a=1#b', '/status?a=1 m.example.com'],
    ['*.example.com', 'https://M.a.Example.com:8443', '/ m.a.example.com'],
    ['*.example.com', 'http://example.com/status', '/status'],
    ['*.example.com', 'http://other.example/status', '/status'],
    ['*.example.com', 'http://-.example.com/status', '/status'],
    ['www.example.com', 'http://www.example.com/status', '/status'],
  ] as const;
  for (const [name, monitorUrl, expected] of rows) {
    const settings = { ...DEFAULT_SETTINGS, origins: ['192.0.2.1'], monitorUrl };
    const spec = toSiteSpec({ ...BASE, ...ORDINARY, name, settings });
    const { probePath, probeHost } = spec?.origins ?? {};
    assert.equal([probePath, probeHost].filter((part) => part !== undefined).join(' '), expected, monitorUrl);
    assert.equal(compileSite(spec, 1).kind, 'site');
  }
});
