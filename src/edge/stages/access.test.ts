/** The order and the inputs of the access rules. What each list matches is tested in `sites/`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileSite } from '#sites/compile.ts';
import type { AccessSpec } from '#sites/spec.ts';
import { checkAccess } from './access.ts';

const RULES: AccessSpec = {
  deniedAddresses: ['192.0.2.0/24', '2001:db8::/32'],
  referer: { mode: 'allow', allowsBlank: true, entries: ['example.com'] },
  deniedUserAgents: ['curl'],
};
const BAD = { clientAddress: '192.0.2.9', headers: ['Referer', 'http://evil.test/', 'User-Agent', 'curl/8'] };
const GOOD = {
  clientAddress: '198.51.100.1',
  headers: ['referer', 'https://shop.example.com/', 'USER-AGENT', 'Mozilla/5.0'],
};

describe('access rules', () => {
  const redirect = (url: string): AccessSpec => ({ ...RULES, refusal: { kind: 'redirect', url } });
  const rows: readonly (readonly [
    what: string,
    access: AccessSpec,
    request: Partial<typeof GOOD & { target: string }>,
    expected: string,
  ])[] = [
    ['none', {}, BAD, 'allow'],
    ['all are kept to', RULES, GOOD, 'allow'],
    ['the address first', RULES, BAD, 'ip'],
    ['then the Referer', RULES, { headers: BAD.headers }, 'referer'],
    ['then the User-Agent', RULES, { headers: ['User-Agent', 'curl/8'] }, 'userAgent'],
    ['an address over IPv6', RULES, { clientAddress: '2001:db8::1' }, 'ip'],
    ['no address that could be told', RULES, { clientAddress: '' }, 'allow'],
    ['where the refused are sent to', redirect('http://www.example.com/sorry?a=1'), BAD, 'allow'],
    [
      'the same by another scheme, in another spelling',
      redirect('https://WWW.example.com:8443/%73orry?a=1#top'),
      BAD,
      'allow',
    ],
    [
      'the same by dots, which an origin may not resolve',
      redirect('http://www.example.com/sorry?a=1'),
      { ...BAD, target: '/secret/%2e%2e/sorry?a=1' },
      'ip',
    ],
    ['another place of the same site', redirect('http://www.example.com/sorry'), BAD, 'ip'],
    ['the same place of another site', redirect('http://other.example.com/sorry?a=1'), BAD, 'ip'],
  ];
  for (const [what, access, request, expected] of rows) {
    test(`access rules, ${what}: ${expected}`, () => {
      const target = { host: 'www.example.com', target: '/sorry?a=1', keyPath: '/sorry', query: '?a=1' };
      const decided = checkAccess(site(access), { ...GOOD, ...target, ...request });
      assert.equal(decided.kind === 'deny' ? decided.reason : 'allow', expected);
    });
  }
});

function site(access: AccessSpec) {
  const origins = { protocol: 'http', primary: [{ host: 'o.example' }] };
  const result = compileSite({ id: 7, name: '*.example.com', type: 'static', state: 'open', origins, access }, 1);
  if (result.kind === 'invalid') throw new Error(result.problem);
  return result.site;
}
