/** Redirects of a site over sockets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedirectRule } from '../../src/model/rules.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';

const RULE: RedirectRule = { match: 'prefix', content: '/old', target: '/new', status: 301, keepsQuery: true };

test('the first rule whose path matches sends a request elsewhere, and no origin is asked', async (t) => {
  const redirects: RedirectRule[] = [
    RULE,
    { ...RULE, content: '/gone/', target: 'https://other.example.com/a?x=1#top', status: 308 },
    { ...RULE, match: 'suffix', content: 'php', target: '/plain', status: 302, keepsQuery: false },
    { ...RULE, match: 'regex', content: '^/(old|n[0-9]+)$', target: '/图', status: 307 },
  ];
  const { edge, origin } = await startSite(t, reply('x', FRESH), { site: { redirects } });
  const rows = [
    ['/old', 301, '/new'],
    ['/old/page?a=1&b=2', 301, '/new?a=1&b=2'],
    ['/%6Fld?', 301, '/new'],
    ['/gone/x?y=2', 308, 'https://other.example.com/a?x=1&y=2#top'],
    ['/index.PHP?y=2', 302, '/plain'],
    ['/n17', 307, '/%E5%9B%BE'],
  ] as const;
  for (const [path, status, location] of rows) {
    const answer = await edge.get(path);
    assert.deepEqual([answer.status, answer.headers['location']], [status, location], path);
    assert.deepEqual(
      [answer.headers['x-cache'], answer.headers['cache-control']],
      ['REDIRECT redirectRule', 'no-store'],
    );
    assert.equal(answer.headers['content-length'], '0');
  }
  assert.equal((await edge.get('/old', { method: 'POST', body: 'x' })).status, 301);
  assert.equal((await edge.get('/oldest')).status, 200);
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    ['/oldest'],
  );
  assert.equal(edge.log[0]?.result, 'NONE/301');
});

test('access rules, the rate and the signature come before a redirect', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH), { site: { redirects: [RULE] }, urlKeys: ['k'.repeat(16)] });
  edge.put({ name: SITE_HOST, access: { deniedUserAgents: ['bot'] } });
  assert.equal((await edge.get('/old', { headers: ['User-Agent', 'bot'] })).status, 403);
  edge.put({ name: SITE_HOST, signing: { validSeconds: 0, paths: [] } });
  assert.equal((await edge.get('/old')).headers['x-cache'], 'DENIED signature');
});

test('a stored object is not served where a redirect has come', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH));
  for (let i = 0; i < 3; i++) await edge.get('/old');
  assert.equal((await edge.get('/old')).headers['x-cache'], 'HIT');
  edge.put({ name: SITE_HOST, redirects: [RULE] });
  assert.equal((await edge.get('/old')).status, 301);
  const question = { method: 'GET', scheme: 'http', host: SITE_HOST, target: '/old?a', headers: [] } as const;
  const { steps, xCache } = await edge.edge.explain({ ...question, clientAddress: '127.0.0.1' });
  assert.deepEqual([xCache, steps.at(-1)], ['REDIRECT redirectRule', { stage: 'redirect', found: '301 /new?a' }]);
});
