/** Slow clients of what is stored, when it leaves the store while they read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectRaw, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const MIB = 1024 * 1024;

test('evicted objects that clients still read are bounded: beyond the bound some clients are cut', async (t) => {
  const origin = await startOrigin(t, reply(Buffer.alloc(15 * MIB, 'x'), { 'cache-control': 'max-age=600' }));
  // Room for seven objects; clients may keep two more.
  const edge = await startTestEdge(t, [origin.port], { cacheBytes: 128 * MIB, maxLagBytes: 32 * MIB });
  const clients = [];
  for (let i = 0; i < 13; i++) {
    assert.equal((await edge.get(`/${i}`)).isWhole, true);
    const client = connectRaw(edge.port, `GET /${i} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    client.socket.once('data', () => client.socket.pause());
    clients.push(client);
    await eventually('begun', () => client.text().includes('X-Cache: HIT'));
  }
  const cut = () => edge.log.filter((fields) => fields.result === 'TCP_MEM_HIT/503').length;
  await eventually('cut', () => cut() >= 4);
  assert.ok(cut() <= 6, `${cut()}`);
  for (const client of clients) client.socket.destroy();
});

test('objects that clients still read as they were fetched are bounded in the same way', async (t) => {
  const origin = await startOrigin(t, reply(Buffer.alloc(15 * MIB, 'x'), { 'cache-control': 'max-age=600' }));
  const edge = await startTestEdge(t, [origin.port], { cacheBytes: 128 * MIB, maxLagBytes: 32 * MIB });
  const clients = [];
  for (let i = 0; i < 13; i++) {
    const client = connectRaw(edge.port, `GET /${i} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    client.socket.once('data', () => client.socket.pause());
    clients.push(client);
    await eventually('begun', () => client.text().includes('X-Cache: MISS'));
    await eventually(
      'stored at the pace of the origin',
      async () => (await edge.get(`/${i}`)).headers['x-cache'] === 'HIT',
    );
  }
  const cut = () => edge.log.filter((fields) => fields.result === 'TCP_MISS/503').length;
  await eventually('cut', () => cut() >= 4);
  assert.ok(cut() <= 6, `${cut()}`);
  for (const client of clients) client.socket.destroy();
});

test('clients of ready answers are bounded in the same way when their objects are evicted', async (t) => {
  const { edge } = await startSite(t, reply(Buffer.alloc(MIB, 'x'), { 'cache-control': 'max-age=600' }), {
    cacheBytes: 32 * MIB,
    maxLagBytes: 2 * MIB,
  });
  const clients = [];
  for (let i = 0; i < 6; i++) {
    for (let asked = 0; asked < 2; asked++) await edge.get(`/${i}`, { connection: 'keep-alive' });
    const client = connectRaw(edge.port, `GET /${i} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`.repeat(40));
    client.socket.pause();
    clients.push(client);
    await eventually('it waits', () => edge.edge.underWay === i + 1);
  }
  // Each twice: used objects stay longer than unused ones.
  for (let i = 0; i < 120; i++) await edge.get(`/other-${i >> 1}`);
  const cut = () => edge.log.filter((fields) => fields.result === 'TCP_MEM_HIT/503').length;
  await eventually('cut', () => cut() >= 3);
  assert.ok(cut() <= 5, `${cut()}`);
  for (const client of clients) client.socket.destroy();
});
