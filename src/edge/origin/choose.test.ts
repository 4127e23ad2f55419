import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Scheme } from '#http/absolute-form.ts';
import { compileSite } from '#sites/compile.ts';
import type { OriginsSpec } from '#sites/spec.ts';
import { chooseOrigins, createOriginDescriber, describeOrigins, type OriginCandidate } from './choose.ts';

describe('the order of origins', () => {
  const origins = { primary: [{ host: 'a' }, { host: 'b' }, { host: 'c' }], backup: [{ host: 'x' }, { host: 'y' }] };
  const rows: readonly (readonly [what: string, turn: number, down: string, expected: string])[] = [
    ['the first turn begins at the first', 0, '', 'a b c'],
    ['the next turn begins at the second', 1, '', 'b c a'],
    ['turns wrap around', 5, '', 'c a b'],
    ['an origin that is down is skipped, backups follow the usable primaries', 0, 'a', 'b c x'],
    ['turns rotate among the usable origins', 1, 'a', 'c b x'],
    ['backups only when no primary is usable', 0, 'a b c', 'x y a'],
    ['a backup that is down is skipped too', 0, 'a b c x', 'y a b'],
    ['all origins are down and still tried in order', 7, 'a b c x y', 'a b c'],
  ];
  for (const [what, turn, down, expected] of rows) {
    test(`origins are ordered: ${what}`, () => {
      const isDown = ({ key }: OriginCandidate) => down.split(' ').includes(key.replace(':80', ''));
      const chosen = chooseOrigins(describeOrigins(site(origins), 'http', 'h.example'), turn, isDown);
      assert.equal(chosen.map(({ destination }) => destination.host).join(' '), expected);
    });
  }

  test('an address that is written twice is tried once', () => {
    const same = site({
      primary: [{ host: 'a' }, { host: 'a', port: 80 }],
      backup: [{ host: 'a' }, { host: 'a', port: 81 }],
    });
    const chosen = chooseOrigins(describeOrigins(same, 'http', 'h'), 0, () => false);
    assert.deepEqual(
      chosen.map(({ key }) => key),
      ['a:80', 'a:81'],
    );
  });

  test('a site without origins has no candidates', () => {
    const chosen = chooseOrigins(describeOrigins(site({ primary: [] }, 'live'), 'http', 'h'), 3, () => false);
    assert.deepEqual(chosen, []);
  });
});

describe('scheme, port and names towards the origin', () => {
  type Row = readonly [protocol: OriginsSpec['protocol'], port: number | undefined, client: Scheme, expected: string];
  const rows: readonly Row[] = [
    ['http', undefined, 'https', 'http 80'],
    ['https', undefined, 'http', 'https 443'],
    ['http', 8080, 'https', 'http 8080'],
    ['http', 443, 'http', 'http 443'],
    ['follow', undefined, 'http', 'http 80'],
    ['follow', undefined, 'https', 'https 443'],
    ['follow', 8080, 'https', 'https 8080'],
    ['follow', 80, 'https', 'https 443'],
    ['follow', 443, 'http', 'http 80'],
    ['follow', 443, 'https', 'https 443'],
  ];
  for (const [protocol, port, scheme, expected] of rows) {
    test(`${protocol}, port ${port ?? 'absent'}, ${scheme} client: ${expected}`, () => {
      const origin = port === undefined ? { host: 'o.example' } : { host: 'o.example', port };
      const [first] = describeOrigins(site({ protocol, primary: [origin] }), scheme, 'h').primary;
      const actual = first?.destination.serverName === undefined ? 'http' : 'https';
      assert.equal(`${actual} ${first?.destination.port}`, expected);
    });
  }

  const names = [
    ['', 'a.b.example', 'a.b.example', 'a.b.example'],
    ['o.example', 'a.b.example', 'o.example', 'o.example'],
    ['o.example:8443', 'a.b.example', 'o.example:8443', 'o.example'],
    ['192.0.2.1', 'a.b.example', '192.0.2.1', ''],
    ['[2001:db8::1]:1', 'a.b.example', '[2001:db8::1]:1', ''],
  ] as const;
  for (const [hostHeader, host, expectedHost, expectedName] of names) {
    test(`Host setting '${hostHeader}' gives Host ${expectedHost} and server name '${expectedName}'`, () => {
      const https = site({ protocol: 'https', hostHeader, primary: [{ host: 'o' }] });
      const [first] = describeOrigins(https, 'http', host).primary;
      assert.deepEqual([first?.hostHeader, first?.destination.serverName], [expectedHost, expectedName]);
    });
  }
});

describe('descriptions that are remembered', () => {
  const describeRemembered = createOriginDescriber();
  const one = site({ protocol: 'follow', primary: [{ host: 'o' }], backup: [{ host: 'b' }] });
  const other = site({ protocol: 'follow', primary: [{ host: 'o' }] });

  test("a site's description is remembered until another scheme or host is asked for", () => {
    const first = describeRemembered(one, 'http', 'h');
    assert.equal(describeRemembered(other, 'http', 'h').backup.length, 0);
    assert.equal(describeRemembered(one, 'http', 'h'), first);
    for (const [scheme, host] of [
      ['https', 'h'],
      ['https', 'other'],
      ['http', 'h'],
    ] as const) {
      const { primary, backup } = describeRemembered(one, scheme, host);
      assert.deepEqual({ primary, backup }, describeOrigins(one, scheme, host));
    }
  });
});

describe("keys of an origin's health", () => {
  test('slow answers are remembered by site, address and Host', () => {
    const slowKey = (hostHeader: string, id: number, port: number, host = 'h') =>
      describeOrigins(site({ hostHeader, primary: [{ host: 'o', port }] }, 'static', 'h.example', id), 'http', host)
        .primary[0]?.slowKey;
    const keys = [
      slowKey('', 1, 80),
      slowKey('', 2, 80),
      slowKey('', 1, 81),
      slowKey('x', 1, 80),
      slowKey('', 1, 80, 'g'),
    ];
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(slowKey('h', 1, 80), slowKey('', 1, 80));
  });

  const probeKey = (probePath: string, hostHeader = '') => {
    const monitored = site({ probePath, hostHeader, primary: [{ host: 'o' }] });
    const [first] = describeOrigins(monitored, 'http', 'h.example').primary;
    return first?.probe.key ?? '';
  };

  test("an origin's health is kept by address, and with a monitor URL by what is requested", () => {
    assert.equal(probeKey(''), 'o:80');
    assert.equal(probeKey('/up?a'), 'o:80 http://h.example/up?a');
    assert.equal(probeKey('/up?a', 'source.example'), 'o:80 http://source.example/up?a');
  });

  test('a long path is named by its beginning and its digest', () => {
    const [one, two] = ['a', 'b'].map((end) => probeKey(`/${'x'.repeat(8_000)}${end}`));
    assert.match(one ?? '', /^o:80 http:\/\/h\.example\/x{63}#[\w-]{43}$/);
    assert.notEqual(one, two);
  });
});

function site(origins: Partial<OriginsSpec>, type = 'static', name = 'h.example', id = 1) {
  const spec = { protocol: 'http', primary: [], backup: [], hostHeader: '', probePath: '', ...origins };
  const result = compileSite({ id, name, type, state: 'open', origins: spec }, 1);
  if (result.kind === 'invalid') throw new Error(result.problem);
  return result.site;
}

describe('targets of probes', () => {
  const keyOf = (name: string, change: Partial<OriginsSpec>) => {
    const spec = { primary: [{ host: 'a' }], ...change };
    const [first] = describeOrigins(site(spec, 'static', name), 'https', 'h.example').primary;
    return [first?.probe.key, first?.probe.destination.serverName, first?.probe.request?.target];
  };
  const rows: readonly (readonly [what: string, name: string, Partial<OriginsSpec>, expected: unknown[]])[] = [
    ['a connection, without TLS', 'h.example', { protocol: 'https' }, ['a:443', undefined, undefined]],
    ['a monitor URL', 'h.example', { probePath: '/s?x' }, ['a:80 http://h.example/s?x', undefined, '/s?x']],
    ['by TLS', 'h.example', { probePath: '/s', protocol: 'https' }, ['a:443 https://h.example/s', 'h.example', '/s']],
    [
      'the sourcehost',
      'h.example',
      { probePath: '/', hostHeader: 's.example:81' },
      ['a:80 http://s.example:81/', undefined, '/'],
    ],
    ['a wildcard with nobody to ask for', '*.example', { probePath: '/' }, ['a:80', undefined, undefined]],
    [
      'a wildcard with a host',
      '*.example',
      { probePath: '/', probeHost: 'm.example' },
      ['a:80 http://m.example/', undefined, '/'],
    ],
    [
      'a wildcard with a sourcehost',
      '*.example',
      { probePath: '/', probeHost: 'm.example', hostHeader: 's.example' },
      ['a:80 http://s.example/', undefined, '/'],
    ],
  ];
  for (const [what, name, change, expected] of rows) {
    test(`origins are probed: ${what}`, () => assert.deepEqual(keyOf(name, change), expected));
  }
});
