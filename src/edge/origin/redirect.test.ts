import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileSite } from '#sites/compile.ts';
import type { Site } from '#sites/site.ts';
import type { SiteSpec } from '#sites/spec.ts';
import { type Chain, firstHop, type Hop, readRedirect } from './redirect.ts';

const OWN = site({});
const OTHER = site({ id: 2, name: 'other.example.com' });
const TLS = site({ protocol: 'https' });
const WILD = site({ name: '*.wild.example', hostHeader: '' });

describe('the target of a redirect', () => {
  const rows: readonly (readonly [what: string, location: string, expected: string, site?: Site])[] = [
    ['a path', '/b?x=1', 'own www.example.com /b?x=1'],
    ['a path beside', 'b', 'own www.example.com /dir/b'],
    ['only a query', '?y', 'own www.example.com /dir/a?y'],
    ['without the fragment', '/b#part', 'own www.example.com /b'],
    ['the accelerated domain, at any scheme and port', 'https://WWW.example.com.:8443/b', 'own www.example.com /b'],
    ['the sourcehost', 'http://source.example/b', 'own www.example.com /b'],
    ['an origin by name and port', 'http://o.example:8080/b', 'own www.example.com /b'],
    ['a backup at the default port', 'http://192.0.2.7/b', 'own www.example.com /b'],
    ['an IPv6 origin', 'http://[2001:db8::7]:81/b', 'own www.example.com /b'],
    ['another port of an origin', 'http://o.example/b', 'o.example:80 o.example - /b'],
    ['another host', 'http://cdn.example/b', 'cdn.example:80 cdn.example - /b'],
    ['by TLS', 'https://cdn.example/b', 'cdn.example:443 cdn.example cdn.example /b'],
    ['at a port', 'https://cdn.example:444', 'cdn.example:444 cdn.example:444 cdn.example /'],
    ['without a scheme', '//cdn.example/b', 'cdn.example:80 cdn.example - /b'],
    ['an address', 'https://[2001:db8::1]/b', '2001:db8::1:443 [2001:db8::1] (none) /b'],
    ['an address in disguise', 'http://0x7f.1/b', '127.0.0.1:80 127.0.0.1 - /b'],
    ['letters beyond ASCII', Buffer.from('/é').toString('latin1'), 'own www.example.com /%C3%A9'],
    ['bytes that are not UTF-8', '/caf\xe9?q=\xff', 'own www.example.com /caf%E9?q=%FF'],
    ['a path in GBK', '/\xd6\xd0.jpg', 'own www.example.com /%D6%D0.jpg'],
    [
      'a host beyond ASCII',
      Buffer.from('http://é.example/é').toString('latin1'),
      'xn--9ca.example:80 xn--9ca.example - /%C3%A9',
    ],
    ['a host that is not UTF-8', 'http://\xe9.example/', 'target'],
    ['a line break', '/b\r\nX: 1', 'own www.example.com /bX:%201'],
    ['itself', '/dir/a', 'loop'],
    ['itself in full', 'http://source.example/dir/a#top', 'loop'],
    ['itself at the other scheme: for the client', 'https://www.example.com/dir/a', 'loop'],
    ['another domain of this edge: for the client', 'http://other.example.com/b', 'target'],
    ['another scheme', 'ftp://cdn.example/b', 'target'],
    ['a script', 'javascript:alert(1)', 'target'],
    ['credentials', 'http://user:secret@cdn.example/b', 'target'],
    ['a name alone', 'http://user@www.example.com/b', 'target'],
    ['no URL', 'http://[::1', 'target'],
    ['port 0', 'http://cdn.example:0/', 'target'],
    ['a host that is none', 'http://a_b-.example/', 'target'],
    ['too long', `/${'x'.repeat(8192)}`, 'target'],
    ['from TLS to none', 'http://cdn.example/b', 'downgrade', TLS],
    ['from TLS to TLS', 'https://cdn.example/b', 'cdn.example:443 cdn.example cdn.example /b', TLS],
    ['from TLS to the site itself, which TLS is set for', 'http://www.example.com/b', 'own www.example.com /b', TLS],
    ['another host of a wildcard', 'http://b.wild.example/b', 'own b.wild.example /b', WILD],
    ['the same path at another host of a wildcard', 'http://b.wild.example/dir/a', 'own b.wild.example /dir/a', WILD],
  ];
  for (const [what, location, expected, asked = OWN] of rows) {
    test(`the target of a redirect, ${what}: ${expected}`, () => {
      assert.equal(show(readRedirect(['Location', location], chainOf(asked))), expected);
    });
  }

  test('an absent or repeated Location is not followed', () => {
    assert.equal(show(readRedirect([], chainOf(OWN))), 'target');
    assert.equal(show(readRedirect(['Location', '/b', 'location', '/b'], chainOf(OWN))), 'target');
  });

  test('three redirects are followed, the fourth is not; none is followed twice', () => {
    let chain = chainOf(OWN);
    for (const location of ['/1', 'http://cdn.example/2', '/3']) {
      const lead = readRedirect(['Location', location], chain);
      assert.equal(lead.kind, 'follow');
      if (lead.kind === 'follow') chain = { ...chain, hops: [...chain.hops, lead.hop] };
    }
    assert.equal(chain.hops.at(-1)?.url, 'http://cdn.example/3'); // relative to the host that sent it
    assert.equal(show(readRedirect(['Location', '/4'], chain)), 'limit');
    const two = { ...chain, hops: chain.hops.slice(0, 3) as [Hop, ...Hop[]] }; // not empty: three of four
    assert.equal(show(readRedirect(['Location', 'http://www.example.com/1'], two)), 'loop');
    assert.equal(show(readRedirect(['Location', '2'], two)), 'loop');
  });

  test("ports of the client's scheme count under the protocol `follow`", () => {
    const follow = site({ protocol: 'follow' });
    const secure: Chain = { ...chainOf(follow), scheme: 'https' };
    assert.equal(show(readRedirect(['Location', 'https://192.0.2.7/b'], secure)), 'own www.example.com /b');
    assert.equal(
      show(readRedirect(['Location', 'https://192.0.2.7/b'], chainOf(follow))),
      '192.0.2.7:443 192.0.2.7 (none) /b',
    );
  });
});

function site(change: Partial<Pick<SiteSpec, 'id' | 'name'> & SiteSpec['origins']>): Site {
  const { id = 1, name = 'www.example.com', ...origins } = change;
  const spec: SiteSpec = {
    id,
    name,
    type: 'static',
    state: 'open',
    origins: {
      protocol: 'http',
      primary: [{ host: 'o.example', port: 8080 }],
      backup: [{ host: '192.0.2.7' }, { host: '2001:db8::7', port: 81 }],
      hostHeader: 'source.example',
      probePath: '',
      ...origins,
    },
  };
  const result = compileSite(spec, 1);
  if (result.kind === 'invalid') throw new Error(result.problem);
  return result.site;
}

function chainOf(asked: Site): Chain {
  const host = asked.isWildcard ? 'a.wild.example' : asked.name;
  const siteOf = (name: string) => {
    if (name === OTHER.name) return OTHER;
    return name === asked.name || (asked.isWildcard && name.endsWith('.wild.example')) ? asked : undefined;
  };
  return { site: asked, scheme: 'http', siteOf, hops: [firstHop(asked, 'http', host, '/dir/a')] };
}

function show(lead: ReturnType<typeof readRedirect>): string {
  if (lead.kind === 'stay') return lead.reason;
  const { elsewhere, host, target } = lead.hop;
  if (elsewhere === undefined) return `own ${host} ${target}`;
  const { key, hostHeader, destination } = elsewhere;
  return `${key} ${hostHeader} ${destination.serverName === '' ? '(none)' : (destination.serverName ?? '-')} ${target}`;
}
