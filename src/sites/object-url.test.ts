import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkRequest } from '#http/request.ts';
import { createSiteTable } from './lookup.ts';
import { parseObjectUrl } from './object-url.ts';
import type { SiteSpec } from './spec.ts';

test('a URL is split into the request that a viewer would send and the key of the cache', () => {
  const rows: readonly (readonly [text: string, scheme: string, host: string, target: string, keyTarget: string])[] = [
    ['http://www.example.com', 'http', 'www.example.com', '/', '/'],
    ['https://www.example.com/', 'https', 'www.example.com', '/', '/'],
    ['HTTP://WWW.Example.com.:8080/A', 'http', 'www.example.com', '/A', '/A'],
    ['http://www.example.com:/A', 'http', 'www.example.com', '/A', '/A'],
    ['http://a-.w.example.com/', 'http', 'a-.w.example.com', '/', '/'],
    ['http://-A--.w.example.com./', 'http', '-a--.w.example.com', '/', '/'],
    ['http://xn--zzzzzz.w.example.com/', 'http', 'xn--zzzzzz.w.example.com', '/', '/'],
    ['http://www.example.com?q', 'http', 'www.example.com', '/?q', '/?q'],
    ['http://www.example.com/%7ea/./b?%7e', 'http', 'www.example.com', '/%7ea/./b?%7e', '/~a/b?%7e'],
    ['http://例子.example/例 子', 'http', 'xn--fsqu00a.example', '/%E4%BE%8B%20%E5%AD%90', '/%E4%BE%8B%20%E5%AD%90'],
    ['http://a.example/🚀', 'http', 'a.example', '/%F0%9F%9A%80', '/%F0%9F%9A%80'],
    ['http://a.example//x?a?b/../c', 'http', 'a.example', '//x?a?b/../c', '//x?a?b/../c'],
    ['http://a.example/"<>{}|\\^`', 'http', 'a.example', '/"<>{}|\\^`', '/"<>{}|\\^`'],
  ];
  for (const [text, scheme, host, target, keyTarget] of rows) {
    assert.deepEqual(parseObjectUrl(text), { kind: 'url', scheme, host, target, keyTarget }, text);
  }
});

test('a URL that no viewer could send is refused with the reason', () => {
  const rows: readonly (readonly [text: string, reason: RegExp])[] = [
    ['', /http:\/\//],
    ['/a', /http:\/\//],
    ['www.example.com/a', /http:\/\//],
    ['//www.example.com/a', /http:\/\//],
    ['ftp://www.example.com/a', /http:\/\//],
    [' http://www.example.com/a', /http:\/\//],
    ['http://', /empty/],
    ['http://:80/', /empty/],
    ['http://:/', /empty/],
    ['http://u@www.example.com/', /user name/],
    ['http://www.example.com/a#', /fragment/],
    ['http://www.example.com#a', /host|fragment/],
    ['http://www.example.com/%', /hexadecimal/],
    ['http://www.example.com/?%g0', /hexadecimal/],
    ['http://www.example.com/a\nb', /control/],
    ['http://www.example.com/\ud800', /control/],
    ['http://www.example.com:65536/', /port/],
    ['http://www.example.com:8o/', /host/],
    ['http://[::1]/', /host/],
    ['http://1.2.3.4/', /IP address/],
    ['http://*.example.com/', /host/],
  ];
  for (const [text, reason] of rows) {
    const result = parseObjectUrl(text);
    assert.ok(result.kind === 'invalid' && reason.test(result.reason), `${text}: ${JSON.stringify(result)}`);
  }
});

test('a wildcard serves the hosts whose URLs can be purged, and no others', () => {
  const origins = {
    protocol: 'http',
    primary: [{ host: 'o.example' }],
    backup: [],
    hostHeader: '',
    probePath: '',
  } as const;
  const spec: SiteSpec = { id: 1, name: '*.w.example.com', type: 'static', state: 'open', origins };
  const table = createSiteTable({
    source: {
      getSpec: (name) => (name === spec.name ? { spec, revision: 1 } : undefined),
      purgesOf: () => [],
      getCertificate: () => undefined,
      getAddressList: () => undefined,
      urlKeysOf: () => [],
    },
    maxSites: 10,
  });
  const letter = fc.constantFrom(...'aZ0-_.~*!%:@/é例'.split(''), 'x'.repeat(63), 'xn--', 'xn--a', '..');
  fc.assert(
    fc.property(fc.array(letter, { minLength: 1, maxLength: 6 }), (parts) => {
      const host = `${parts.join('')}.w.example.com`;
      if (!/^[\x21-\x7e]+$/.test(host)) return; // browsers send the ASCII form
      const line = { method: 'GET', target: '/', httpVersion: '1.1', isTls: false, headers: ['Host', host] } as const;
      const request = checkRequest(line);
      const site = request.kind === 'request' ? table.find(request.host) : undefined;
      const url = parseObjectUrl(`http://${host}/`);
      const isPurged = url.kind === 'url' && url.host.endsWith('.w.example.com') && request.kind === 'request';
      assert.equal(site !== undefined, isPurged && url.host === request.host, host);
    }),
    { numRuns: 3000 },
  );
});

test('every target that the edge accepts from a viewer has the key of its URL', () => {
  const character = fc.constantFrom(...'/.%?a~Z2fE&=;+_-"'.split(''), '%2F', '%7e', '/../', '/./', '%c3%a9');
  fc.assert(
    fc.property(
      fc.array(character, { maxLength: 12 }),
      fc.constantFrom('a.example', 'A.Example:81', 'a.example:', 'a.example.:0080', 'a.example:65536', 'a.example:x'),
      (parts, authority) => {
        const target = `/${parts.join('')}`;
        const line = { method: 'GET', target, httpVersion: '1.1', isTls: false, headers: ['Host', authority] } as const;
        const request = checkRequest(line);
        const url = parseObjectUrl(`http://${authority}${target}`);
        assert.equal(url.kind === 'url', request.kind === 'request');
        if (url.kind !== 'url' || request.kind !== 'request') return;
        assert.equal(url.host + url.keyTarget, request.host + request.keyPath + request.query);
        assert.equal(url.target, request.target);
      },
    ),
    { numRuns: 2000 },
  );
});
