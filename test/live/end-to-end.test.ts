/** Live streams on the whole service: every step of a stream's life, read over the API, and processes that are killed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeOnBothEngines, EMPTY } from '../support/db/databases.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { openFlv } from '../support/live/live-edge.ts';
import { LIVE_HOST, LiveOnService } from '../support/live/live-on-service.ts';
import { avcFrame } from '../support/live/media-messages.ts';
import { temporaryFolder } from '../support/temporary.ts';

// The statements behind these steps run on both engines in test/db/live.test.ts and test/api/live.test.ts.
test('a stream is listed in its state at every step of its life', async (t) => {
  const world = await LiveOnService.start(t);
  const { client, stream, service } = world;
  const watch = () =>
    eventually('the edge knows it', async () => {
      const { status } = await fetchFrom(world.edgePort, '/live/a.flv', { host: LIVE_HOST, method: 'HEAD' });
      return status === 200 && openFlv(world.edgePort, '/live/a.flv', { host: LIVE_HOST });
    });
  assert.deepEqual(await client.call('live.streams', { domain: LIVE_HOST }), []);

  const first = await world.published();
  await world.isListed('ONGOING');
  const playlist = await eventually('it is watched at the edge', () => world.playlist());
  assert.match(playlist, /^a\/[a-z0-9]{32}\/media\.m3u8/m);
  const viewer = await watch();
  assert.equal((await world.publish()).code, 'NetStream.Publish.BadName');
  first.break();
  const resumed = await world.published(); // within the grace
  await world.isListed('ONGOING');
  assert.equal(await world.playlist(), playlist, 'the same broadcast');
  assert.equal(viewer.ended(), undefined);
  resumed.unpublish('a');
  await world.isListed('READY ended');
  await eventually('its viewers have the end', () => viewer.ended() === 'whole');

  const third = await world.published();
  await world.isListed('ONGOING');
  const cut = await watch();
  await client.call('liveOperator.forbid', stream);
  // The publisher does not close its side, and goes on sending.
  await eventually('the publisher is cut', () => {
    third.send(avcFrame(6_000, false));
    return third.isClosed;
  });
  await eventually('viewers are cut', () => cut.ended() !== undefined);
  await world.isListed('PAUSED ended');
  await eventually('viewers are refused', async () => (await world.playlist()) === '403');
  assert.equal((await fetchFrom(world.edgePort, '/live/a.flv', { host: LIVE_HOST })).status, 403);
  assert.equal((await world.publish()).code, 'NetStream.Publish.Denied');
  await client.call('liveOperator.resume', stream);
  await world.isListed('READY ended');

  const resume_at = Math.floor(Date.now() / 1000) + 2;
  await client.call('liveOperator.forbid', { ...stream, resume_at });
  await world.isListed('PAUSED ended');
  await world.isListed('READY ended');
  assert.ok(Date.now() >= resume_at * 1000);
  const fourth = await world.published();
  await world.isListed('ONGOING');

  const { account_id, domain_id } = stream;
  const closing = await watch();
  await client.call('operator.setDomainStatus', { account_id, domain_id, action: 'disable' });
  await fourth.ended();
  await eventually('viewers are cut', () => closing.ended() !== undefined);
  await world.isListed('READY ended');
  assert.equal((await world.publish()).code, 'NetStream.Publish.Denied');
  await client.call('operator.setDomainStatus', { account_id, domain_id, action: 'enable' });
  const fifth = await world.published();
  await world.isListed('ONGOING');

  // Control is away, and tells afterwards what was true meanwhile.
  const name = await world.streamKey();
  const control = service.pids()['control'] ?? assert.fail();
  process.kill(control, 'SIGSTOP');
  fifth.unpublish('a');
  await eventually('it is over at the edge', async () => (await world.metric('causeway_live_broadcasts')) === 0);
  const endedBy = Math.ceil(Date.now() / 1000);
  await eventually('more than a second has passed', () => Date.now() > (endedBy + 1) * 1000);
  process.kill(control, 'SIGCONT');
  await world.isListed('READY ended');
  const [listed] = await client.call('live.streams', { domain: LIVE_HOST });
  assert.ok((listed?.endtime ?? 0) <= endedBy);
  await world.published(name);
  await world.isListed('ONGOING');
});

describeOnBothEngines(
  'a stream',
  (newDatabase) => {
    test('no stream stays on air after its processes were killed', async (t) => {
      const { url: databaseUrl } = await newDatabase(t);
      const at = { dataDir: join(temporaryFolder(t), 'data'), ...(databaseUrl !== undefined && { databaseUrl }) };
      const world = await LiveOnService.start(t, at);
      const { service } = world;
      const kill = (part: string) => process.kill(service.pids()[part] ?? 0, 'SIGKILL');
      const client = await world.published();
      await world.isListed('ONGOING');
      kill('live');
      await client.ended();
      await world.isListed('READY ended');

      await eventually('the live process takes publishers again', () => world.published());
      await world.isListed('ONGOING');
      kill('control'); // the stream goes on, and control learns of it again
      await eventually('control is back', () => world.isListed('ONGOING').then(() => true));

      process.kill(service.process.child.pid ?? 0, 'SIGSTOP'); // so that nothing is started again
      for (const pid of Object.values(service.pids())) process.kill(pid, 'SIGKILL');
      service.process.child.kill('SIGKILL');
      await service.process.exit;
      const after = await LiveOnService.start(t, at);
      await after.isListed('READY ended');
      const { list } = await after.client.call('live.history', { domain: LIVE_HOST });
      assert.deepEqual(
        list.map(({ end_reason }) => end_reason),
        ['crashed', 'crashed'],
      );
    });
  },
  EMPTY,
);
