/** A preview of a stream that an edge on another machine has: through control to a session, and not into any count. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { ROUTES } from '#contract/routes.ts';
import { cookieOf, pageFields } from '../support/api/api.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_HOST } from '../support/live/live-on-service.ts';
import { aacHeader, avcFrame, avcHeader, frames } from '../support/live/media-messages.ts';
import { RtmpClient } from '../support/live/rtmp-client.ts';
import { runCommand, startService } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('a session plays the stream of an edge on another machine, which ends with the session', async (t) => {
  const control = await startService(t, {
    settings: { CAUSEWAY_ROLES: 'control', CAUSEWAY_FLEET_LISTEN: '127.0.0.1:0' },
  });
  const fleet = /^fleet +(\S+)/m.exec(control.process.stdout())?.[1] ?? '';
  const operate = { settings: { CAUSEWAY_DATA_DIR: control.dataDir } };
  const { stdout: token } = await runCommand(t, ['edge', 'token', 'create', '--edge-id', 'fra1'], operate);
  const [dataDir, tokenFile] = [join(temporaryFolder(t), 'edge'), join(temporaryFolder(t), 'token')];
  writeFileSync(tokenFile, token);
  await runCommand(t, ['edge', 'enrol', '--data-dir', dataDir, '--control', fleet, '--token-file', tokenFile]);
  const edge = await startService(t, { dataDir, settings: { CAUSEWAY_ROLES: 'edge,live' } });
  const client = createClient({ baseUrl: control.controlUrl, accessToken: control.token });
  const { domain_id } = await client.call('domain.add', { domain: LIVE_HOST, cdn_type: '4' });
  await untilInForce({ client, domain_id });

  const port = Number(new URL(edge.rtmpUrl).port);
  await using publisher = await RtmpClient.openStream({ port, app: 'live', host: LIVE_HOST });
  assert.equal((await publisher.publish('news')).code, 'NetStream.Publish.Start');
  for (const message of [avcHeader(), aacHeader(), ...frames({ untilMs: 5_000 })]) publisher.send(message);
  const stream = { domain: LIVE_HOST, app_name: 'live', stream_name: 'news' };
  await eventually('control lists it', async () => {
    const { list } = await client.call('live.list', { status: 'ONGOING' });
    return list.length === 1;
  });

  const post = async (name: 'session.begin' | 'session.end' | 'live.preview', body: object, fields = {}) =>
    await fetch(control.controlUrl + ROUTES[name].path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...fields },
      body: JSON.stringify(body),
    });
  const page = pageFields(cookieOf((await post('session.begin', { access_token: control.token })).headers));
  const { data } = Object(await (await post('live.preview', stream, page)).json());
  const response = await fetch(new URL(data.url, control.controlUrl), { headers: page });
  assert.equal(response.status, 200);
  let bytes = Buffer.alloc(0);
  const read = async () => {
    for await (const chunk of response.body ?? []) bytes = Buffer.concat([bytes, chunk]);
  };
  const ended = read();
  await eventually('it begins', () => bytes.subarray(0, 4).toString('latin1') === 'FLV\u0001');
  const begun = bytes.length;
  let atMs = 6_000;
  const sendFrame = () => {
    publisher.send(avcFrame(atMs, true, { bytes: 5_000 }));
    atMs += 100;
  };
  await eventually('it goes on', () => {
    sendFrame();
    return bytes.length > begun + 10_000;
  });

  const reported = Date.now();
  await eventually('the edge has reported since', async () => {
    sendFrame();
    const { list } = await client.call('live.list', {});
    return Date.now() - reported > 6_000 && (list[0]?.details?.report_age_ms ?? 60_000) < 5_000;
  });
  const { now } = await client.call('live.viewers', { domain: LIVE_HOST });
  assert.deepEqual(now, { flv: 0, websocket: 0, rtmp: 0, hls: 0 });

  await post('session.end', {}, page);
  await eventually('it has ended', async () => {
    sendFrame();
    return await Promise.race([ended.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]);
  });
});
