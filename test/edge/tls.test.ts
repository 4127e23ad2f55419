/** Origins over TLS: names, certificates, and what the settings make of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VerifyOrigins } from '../../src/edge/origin/connector.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { needs } from '../support/runner/needs.ts';

const resolve = async () => ['127.0.0.1'];

describe('origins over TLS', needs('openssl'), () => {
  test('a named origin is asked under the name of its Host, and its certificate is verified for it', async (t) => {
    const authority = createAuthority(t);
    const origin = await startOrigin(t, reply('secure'), { tls: authority.issue([SITE_HOST]) });
    const primary = [{ host: 'origin.example', port: origin.port }];
    const trusting = await startTestEdge(t, { protocol: 'https', primary }, { resolve, originCa: authority.ca });
    assert.equal((await trusting.get('/')).body, 'secure');
    assert.deepEqual([origin.requests[0]?.serverName, origin.requests[0]?.headers['host']], [SITE_HOST, SITE_HOST]);

    trusting.put({
      name: SITE_HOST,
      origins: { protocol: 'https', primary, backup: [], hostHeader: 'other.example', probePath: '' },
    });
    const wrongName = await trusting.get('/');
    assert.deepEqual([wrongName.status, wrongName.headers['x-cache']], [502, 'ERROR originTls']);

    const distrusting = await startTestEdge(t, { protocol: 'https', primary }, { resolve });
    assert.equal((await distrusting.get('/')).headers['x-cache'], 'ERROR originTls');
    assert.equal(origin.requests.length, 1);
  });

  test('an origin by address is not verified, but gets the name', async (t) => {
    const origin = await startOrigin(t, reply('secure'), { tls: createAuthority(t).issue(['whatever.example']) });
    const edge = await startTestEdge(t, { protocol: 'https', primary: [{ host: '127.0.0.1', port: origin.port }] });
    assert.equal((await edge.get('/')).body, 'secure');
    assert.equal(origin.requests[0]?.serverName, SITE_HOST);
  });

  describe('origins whose certificates are verified', () => {
    type Row = readonly [
      verify: VerifyOrigins,
      host: string,
      named: readonly string[],
      hostHeader: string,
      isTaken: boolean,
    ];
    const [name, other] = ['origin.example', 'other.example'];
    const rows: readonly Row[] = [
      ['names', name, [SITE_HOST], '', true],
      ['names', name, [name], '', false],
      ['names', name, [name], name, true],
      ['names', name, [name], '192.0.2.1:8443', true],
      ['names', name, [other], '192.0.2.1', false],
      ['names', '127.0.0.1', [other], '', true],
      ['always', name, [SITE_HOST], '', true],
      ['always', '127.0.0.1', [SITE_HOST], '', true],
      ['always', '127.0.0.1', [other], '', false],
      ['always', '127.0.0.1', ['127.0.0.1'], '192.0.2.1', true],
      ['always', '127.0.0.1', ['127.0.0.2'], '192.0.2.1', false],
      ['never', name, [other], '', true],
      ['never', '127.0.0.1', [other], '192.0.2.1', true],
    ];
    for (const [originVerify, host, named, hostHeader, isTaken] of rows) {
      const asked = hostHeader === '' ? '' : ` asked for ${hostHeader}`;
      test(`verification by ${originVerify}: ${host}${asked} with a certificate for ${named} is ${isTaken ? 'accepted' : 'refused'}`, async (t) => {
        const authority = createAuthority(t);
        const origin = await startOrigin(t, reply('secure'), { tls: authority.issue(named) });
        const primary = [{ host, port: origin.port }];
        const options = { resolve, originCa: authority.ca, originVerify };
        const edge = await startTestEdge(t, { protocol: 'https', primary, hostHeader }, options);
        assert.equal((await edge.get('/')).body.includes('originTls'), !isTaken);
        assert.equal(origin.requests.length, isTaken ? 1 : 0);
      });
    }
  });

  test('two hosts of a wildcard site never share a connection', async (t) => {
    const authority = createAuthority(t);
    const origin = await startOrigin(t, reply('x'), { tls: authority.issue(['a.example.org', 'b.example.org']) });
    const edge = await startTestEdge(t, [], { resolve, originCa: authority.ca });
    const primary = [{ host: 'origin.example', port: origin.port }];
    edge.put({
      name: '*.example.org',
      origins: { protocol: 'https', primary, backup: [], hostHeader: '', probePath: '' },
    });
    for (const host of ['a.example.org', 'b.example.org', 'a.example.org'])
      assert.equal((await edge.get('/', { host })).status, 200);
    assert.deepEqual(
      origin.requests.map(({ serverName }) => serverName),
      ['a.example.org', 'b.example.org', 'a.example.org'],
    );
    assert.equal(origin.connections(), 2);
    assert.equal((await edge.get('/', { host: 'c.example.org' })).headers['x-cache'], 'ERROR originTls');
  });

  test('a plain origin asked with TLS, and the reverse, fail with a reason', async (t) => {
    const plain = await startOrigin(t, reply('x'));
    const secure = await startOrigin(t, reply('x'), { tls: createAuthority(t).issue(['x.example']) });
    const edge = await startTestEdge(t, { protocol: 'https', primary: [{ host: '127.0.0.1', port: plain.port }] });
    assert.equal((await edge.get('/')).headers['x-cache'], 'ERROR originTls');
    edge.put({
      name: SITE_HOST,
      origins: {
        protocol: 'http',
        primary: [{ host: '127.0.0.1', port: secure.port }],
        backup: [],
        hostHeader: '',
        probePath: '',
      },
    });
    assert.match((await edge.get('/')).headers['x-cache'] ?? '', /^ERROR origin(Reset|Malformed)$/);
  });
});
