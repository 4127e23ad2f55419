/** Origins over TLS: names, certificates, and what the settings make of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAuthority } from './support/certificate.ts';
import { SITE_HOST, startTestEdge } from './support/edge.ts';
import { needsProgram } from './support/needs.ts';
import { reply, startOrigin } from './support/origin.ts';

const resolve = async () => ['127.0.0.1'];

describe('origins over TLS', needsProgram('openssl'), () => {
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

  test('an origin by address is not verified, but is told the name', async (t) => {
    const origin = await startOrigin(t, reply('secure'), { tls: createAuthority(t).issue(['whatever.example']) });
    const edge = await startTestEdge(t, { protocol: 'https', primary: [{ host: '127.0.0.1', port: origin.port }] });
    assert.equal((await edge.get('/')).body, 'secure');
    assert.equal(origin.requests[0]?.serverName, SITE_HOST);
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
