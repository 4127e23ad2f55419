/** Header fields that a site sets, adds or removes, on every kind of answer and over each transport. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeaderRule } from '../../src/model/rules.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, reply } from '../support/edge/origin.ts';
import { startCase, type Version } from '../support/edge/shortcuts.ts';
import { startSite } from '../support/edge/site.ts';
import { needs } from '../support/runner/needs.ts';

const RULES: readonly HeaderRule[] = [
  { action: 'set', name: 'Access-Control-Allow-Origin', value: '*' },
  { action: 'remove', name: 'server', value: '' },
  { action: 'add', name: 'X-Tag', value: 'b' },
  { action: 'set', name: 'X-Frame-Options', value: 'DENY' },
];
const ORIGIN = { 'x-tag': 'a', server: 'secret/1.0', 'x-frame-options': 'SAMEORIGIN' };

for (const [version, options] of [
  ['HTTP/1.1', {}],
  ['HTTP/2', needs('openssl')],
] as readonly (readonly [Version, object])[]) {
  test(`misses, hits and answers that are ready have the site's fields over ${version}`, options, async (t) => {
    const { fetch, isPrepared, edge } = await startCase(t, version, {
      site: { responseHeaders: RULES },
      origin: ORIGIN,
    });
    const expected = ['*', undefined, 'a, b', 'DENY'];
    for (const mark of ['MISS', 'HIT', 'HIT', 'HIT']) {
      const { headers } = await fetch('/a');
      assert.equal(headers['x-cache'], mark);
      const found = ['access-control-allow-origin', 'server', 'x-tag', 'x-frame-options'].map((name) => headers[name]);
      assert.deepEqual(found, expected);
    }
    assert.ok(await isPrepared('/a'));
    edge.put({ name: SITE_HOST, responseHeaders: [] });
    const { headers } = await fetch('/a');
    assert.deepEqual(
      [headers['server'], headers['x-tag'], headers['access-control-allow-origin']],
      ['secret/1.0', 'a', undefined],
    );
  });
}

test('errors, refusals and redirects have them too', async (t) => {
  const { edge, origin } = await startSite(t, reply('x', { ...FRESH, etag: '"1"' }), {
    site: { responseHeaders: RULES },
  });
  const allowed = async (path: string, headers: readonly string[] = []) => {
    const answer = await edge.get(path, { headers });
    return [answer.status, answer.headers['access-control-allow-origin']];
  };
  edge.put({
    name: SITE_HOST,
    access: { deniedUserAgents: ['bot'] },
    redirects: [{ match: 'prefix', content: '/old', target: '/new', status: 302, keepsQuery: false }],
  });
  assert.deepEqual(await allowed('/', ['User-Agent', 'bot']), [403, '*']);
  assert.deepEqual(await allowed('/old'), [302, '*']);
  await edge.get('/');
  assert.deepEqual(await allowed('/', ['Range', 'bytes=0-0']), [206, '*']);
  assert.deepEqual(await allowed('/', ['If-None-Match', '"1"']), [304, '*']);
  origin.answer((_request, response) => response.destroy());
  assert.deepEqual(await allowed('/down'), [502, '*']);
});

test('rules are applied in their order', async (t) => {
  const { edge } = await startSite(t, reply('x', { ...FRESH, 'x-a': '0' }));
  const fields = async (...rules: (readonly [HeaderRule['action'], string, string])[]) => {
    edge.put({ name: SITE_HOST, responseHeaders: rules.map(([action, name, value]) => ({ action, name, value })) });
    return (await edge.get('/')).headers['x-a'];
  };
  assert.equal(await fields(['add', 'X-A', '1'], ['add', 'x-a', '2']), '0, 1, 2');
  assert.equal(await fields(['set', 'X-A', '1'], ['add', 'x-a', '2']), '1, 2');
  assert.equal(await fields(['add', 'X-A', '1'], ['set', 'x-a', '2']), '2');
  assert.equal(await fields(['set', 'X-A', '1'], ['remove', 'x-a', '']), undefined);
  assert.equal(await fields(['remove', 'X-A', ''], ['add', 'x-a', '2']), '2');
});
