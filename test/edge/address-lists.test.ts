/** Lists of addresses that sites share, over sockets: which clients are refused, and that a change reaches all sites at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, reply } from '../support/edge/origin.ts';
import { startCase, type Version } from '../support/edge/shortcuts.ts';
import { startSite } from '../support/edge/site.ts';
import { needs } from '../support/runner/needs.ts';

const OTHER_HOST = 'other.example.com';

test('a change of a list is in force at once on every site that uses it, for stored objects too', async (t) => {
  const { edge, origin } = await startSite(t, reply('x', FRESH));
  const origins = {
    protocol: 'http',
    primary: [{ host: '127.0.0.1', port: origin.port }],
    backup: [],
    hostHeader: '',
    probePath: '',
  } as const;
  edge.put({ name: SITE_HOST, access: { deniedLists: ['1/bad'] } });
  edge.put({ name: OTHER_HOST, origins, access: { allowedLists: ['1/bad', '1/good'] } });
  edge.put({ name: 'free.example.com', origins });
  const marks = async () => {
    const hosts = [SITE_HOST, OTHER_HOST, 'free.example.com'];
    const answers = await Promise.all(hosts.map((host) => edge.get('/', { host })));
    return answers.map(({ headers }) => headers['x-cache']);
  };
  assert.deepEqual(await marks(), ['MISS', 'DENIED notListed', 'MISS'], 'a list that is not here has nobody on it');
  edge.putList('1/bad', ['127.0.0.0/8']);
  assert.deepEqual(await marks(), ['DENIED addressList', 'MISS', 'HIT']);
  edge.putList('1/bad', []);
  assert.deepEqual(await marks(), ['HIT', 'DENIED notListed', 'HIT']);
  edge.putList('1/good', ['127.0.0.1']);
  assert.deepEqual(await marks(), ['HIT', 'HIT', 'HIT']);
});

for (const [version, options] of [
  ['HTTP/1.1', {}],
  ['HTTP/2', needs('openssl')],
] as readonly (readonly [Version, object])[]) {
  test(
    `an answer that is ready over ${version} is not given to a client that has come onto a list`,
    options,
    async (t) => {
      const { edge, learn, isPrepared, fetch } = await startCase(t, version, {
        site: { access: { deniedLists: ['1/bad'], allowedLists: ['1/good'] } },
      });
      edge.putList('1/good', ['127.0.0.0/8']);
      await learn('/a');
      assert.ok(await isPrepared('/a'));
      edge.putList('1/bad', ['192.0.2.1']);
      assert.equal((await fetch('/a')).headers['x-cache'], 'HIT');
      assert.ok(await isPrepared('/a'));
      edge.putList('1/bad', ['127.0.0.1']);
      assert.equal((await fetch('/a')).headers['x-cache'], 'DENIED addressList');
      edge.putList('1/bad', []);
      edge.putList('1/good', []);
      assert.equal((await fetch('/a')).headers['x-cache'], 'DENIED notListed');
    },
  );
}

test('explain names the reason of a list', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH), { site: { access: { deniedLists: ['1/bad'] } } });
  edge.putList('1/bad', ['192.0.2.0/24']);
  const question = { method: 'GET', scheme: 'http', host: SITE_HOST, target: '/', headers: [] } as const;
  assert.equal((await edge.edge.explain({ ...question, clientAddress: '192.0.2.9' })).xCache, 'DENIED addressList');
  assert.equal((await edge.edge.explain({ ...question, clientAddress: '198.51.100.9' })).xCache, 'MISS');
});
