/** Challenges of certificate authorities at the edge: requests that get the text, and requests that go the ordinary way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopback, NO_ORIGINS, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';

const TOKEN = 'Zx-09_abcdefghijklmnopqrstuv';
const PATH = `/.well-known/acme-challenge/${TOKEN}`;
const TEXT = `${TOKEN}.hash`;

test("an ACME challenge is answered before the domain's state, its rules and the redirect to HTTPS, with one log line", async (t) => {
  const origin = await startOrigin(t, reply('of the origin'));
  const known = new Map(['a', 'b'].map((name) => [`${name}.example.com/${TOKEN}`, TEXT]));
  const challenges = { getChallenge: (key: string) => known.get(key) };
  const proxies = { trusted: ['127.0.0.1'], protocol: 'off' } as const; // who says by which scheme a client has come
  const edge = await startTestEdge(t, [origin.port], { challenges, proxies });
  const origins = { ...NO_ORIGINS, primary: loopback([origin.port]) };
  const tls = { certificate: 'c1', forceHttps: true };
  edge.put({ name: 'a.example.com', origins, state: 'closed' });
  edge.put({ name: 'b.example.com', origins, tls, access: { deniedAddresses: ['127.0.0.1'] } });
  edge.put({ name: 'c.example.com', origins });
  edge.put({ name: '*.example.com', origins });
  for (const host of ['a.example.com', 'b.example.com', 'B.example.com:8080']) {
    const answer = await edge.get(PATH, { host });
    assert.deepEqual(
      [answer.status, answer.body, answer.headers['content-type'], answer.headers['x-cache'], answer.isWhole],
      [200, TEXT, 'application/octet-stream', 'OWN acmeChallenge', true],
      host,
    );
  }
  const head = await edge.get(PATH, { host: 'a.example.com', method: 'HEAD' });
  assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', String(TEXT.length)]);
  assert.deepEqual(edge.log.map((line) => `${line.host} ${line.result}`).slice(0, 2), [
    'a.example.com NONE/200',
    'b.example.com NONE/200',
  ]);
  assert.equal(edge.log.length, 4);
  assert.equal(origin.requests.length, 0);

  const others: readonly [string, string, string, string, ('https' | 'http')?][] = [
    ['GET', PATH, 'c.example.com', 'MISS'], // the token of another host
    ['GET', PATH, 'd.example.com', 'MISS'],
    ['POST', PATH, 'c.example.com', 'BYPASS method'],
    ['GET', `${PATH}?a`, 'a.example.com', 'DENIED closed'],
    ['GET', `${PATH}/x`, 'a.example.com', 'DENIED closed'],
    ['GET', '/.well-known/acme-challenge/', 'a.example.com', 'DENIED closed'],
    ['GET', PATH, 'nobody.example.net', 'DENIED unknownHost'],
    ['GET', PATH, 'a.example.com', 'DENIED closed', 'https'], // authorities look over plain HTTP
  ];
  for (const [method, path, host, expected, scheme = 'http'] of others) {
    const { headers } = await edge.get(path, { method, host, headers: ['X-Forwarded-Proto', scheme] });
    assert.equal(headers['x-cache']?.replace(/^MISS.*/, 'MISS'), expected, `${method} ${scheme}://${host}${path}`);
  }
});
