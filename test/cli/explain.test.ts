/** `causeway explain`, beside a service that runs and without one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchFrom } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { runCommand } from '../support/process/service.ts';
import { startWithDomain } from '../support/process/service-with-domain.ts';

test('explain shows what an edge of this machine would do with a request', async (t) => {
  const origin = await startOrigin(t, reply('x', { 'cache-control': 'max-age=60' }));
  const { service } = await startWithDomain(t, origin.port);
  const explain = (...args: string[]) => runCommand(t, ['explain', '--data-dir', service.dataDir, ...args]);

  const miss = await explain('http://WWW.example.com/a?b#c');
  assert.equal(miss.code, 0, miss.stderr);
  assert.match(miss.stdout, /^request +GET http:\/\/www\.example\.com\/a\?b from 127\.0\.0\.1$/m);
  assert.match(miss.stdout, /^site +1 www\.example\.com, static, open, revision \d+$/m);
  assert.match(miss.stdout, /^X-Cache +MISS \(an origin is contacted/m);
  assert.equal(origin.requests.length, 0);

  await fetchFrom(Number(new URL(service.edgeUrl).port), '/a?b');
  const hit = JSON.parse((await explain('http://www.example.com/a?b', '--json')).stdout);
  assert.deepEqual([hit.xCache, hit.asksOrigin, hit.steps.at(-1)], ['HIT', false, { stage: 'decision', found: 'hit' }]);
  const post = await explain('http://www.example.com/', '--method', 'POST', '--header', 'X-A: 1', '--header', 'X-B: 2');
  assert.match(post.stdout, /^X-Cache +BYPASS method \(an origin is contacted\)$/m);
  assert.match((await explain('http://other.example/')).stdout, /^X-Cache +DENIED unknownHost$/m);
  const secure = (await explain('https://www.example.com/')).stdout;
  assert.match(secure, /^handshake +fails: no domain with HTTPS has this host$/m);
  assert.match(secure, /^X-Cache +- \(no answer: the TLS handshake fails\)$/m);
  assert.match((await explain('http://www.example.com/%zz')).stdout, /^X-Cache +ERROR target$/m);

  assert.deepEqual(
    [
      await explain('www.example.com'),
      await explain('http://a.test/', '--header', 'oops'),
      await explain('http://a.test/', '--client', '10.1.1.999'),
      await explain('http://a.test/', '--header', 'host: b.test'),
    ].map(({ stderr }) => stderr),
    [
      'causeway: <url> is invalid: expected a URL that begins with http:// or https://; found "www.example.com"\n',
      'causeway: --header: expected "Name: value"; found "oops"\n',
      'causeway: --client: expected an IP address; found "10.1.1.999"\n',
      'causeway: --header: the host is taken from the URL; omit "Host: …" and put the host into the URL\n',
    ],
  );
  assert.equal(await service.stop(), 0);
  const { code, stderr } = await explain('http://www.example.com/');
  assert.deepEqual(
    [code, stderr],
    [
      1,
      `causeway: no edge is running from ${service.dataDir}; start it with "causeway serve", or specify another with --data-dir\n`,
    ],
  );
});
