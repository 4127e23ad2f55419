/** Variants are told apart by what the origin was told, not by what the client sent. RFC 9111 §4.1 */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { SITE_HOST, startTestEdge } from '../support/edge.ts';
import { reply, startOrigin } from '../support/origin.ts';

function varying(field: string) {
  const headers = { 'cache-control': 'max-age=60', vary: field };
  return (request: Parameters<ReturnType<typeof reply>>[0], response: Parameters<ReturnType<typeof reply>>[1]) =>
    reply(request.headers[field.toLowerCase()] ?? 'none', headers)(request, response);
}

test('a field that the edge overwrites has its new value in the variant: two addresses have two variants', async (t) => {
  const origin = await startOrigin(t, varying('X-Forwarded-For'));
  const edge = await startTestEdge(t, [origin.port]);
  assert.equal((await edge.get('/', { headers: ['X-Forwarded-For', '6.6.6.6'] })).body, '127.0.0.1');
  assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
  assert.equal(await bodyFrom('127.0.0.9', edge.port), '127.0.0.9');
  assert.equal((await edge.get('/')).body, '127.0.0.1');
});

test('a field that is named in Connection counts as absent', async (t) => {
  const origin = await startOrigin(t, varying('Origin'));
  const edge = await startTestEdge(t, [origin.port]);
  const named = ['Origin', 'https://app.example', 'Connection', 'origin'];
  assert.equal((await edge.get('/', { headers: named })).body, 'none');
  assert.equal((await edge.get('/', { headers: ['Origin', 'https://app.example'] })).body, 'https://app.example');
  assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
});

test('a hop-by-hop field makes no variants', async (t) => {
  const origin = await startOrigin(t, varying('TE'));
  const edge = await startTestEdge(t, [origin.port]);
  await edge.get('/', { headers: ['TE', 'a'] });
  assert.equal((await edge.get('/', { headers: ['TE', 'b'] })).headers['x-cache'], 'HIT');
});

function bodyFrom(localAddress: string, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const request = httpRequest({ host: '127.0.0.1', port, localAddress, headers: { host: SITE_HOST }, agent: false });
  request.on('error', reject);
  request.on('response', async (response) => {
    let body = '';
    for await (const chunk of response) body += String(chunk);
    resolve(body);
  });
  request.end();
  return promise;
}
