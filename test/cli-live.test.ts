/** `causeway live` against a running control, to which a live process reports. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { began, ended, onAir, sendLiveReport } from './support/live-reports.ts';
import { runCommand, startService } from './support/service.ts';

test('a stream is listed, shown, kicked, forbidden and resumed; its domain has keys, addresses, viewers and history', async (t) => {
  const service = await startService(t, {
    settings: { CAUSEWAY_ROLES: 'control', CAUSEWAY_RTMP_LISTEN: '127.0.0.1:19351' },
  });
  const runAny = (args: string[]) => runCommand(t, [...args, '--data-dir', service.dataDir]);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAny(args);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    return stdout;
  };
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAny(args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    return stderr;
  };
  await run('domain', 'add', 'live.example.com', '--type', 'live');
  const name = { domainId: 1, app: 'live', stream: 'news', broadcast: 'b1' };
  const now = Date.now();
  const socketPath = join(service.dataDir, 'run/feed.sock');
  const viewers = { flv: 4, websocket: 0, rtmp: 1, hls: 2 };
  const report = {
    edge: 'local',
    epoch: 'e',
    at: now,
    events: [began(1, name, now)],
    streams: [onAir(name, now, { viewers })],
  };
  assert.deepEqual(await sendLiveReport(socketPath, report), { taken: 1, notOwned: [] });

  const stream = ['1', 'live.example.com', 'live/news'];
  assert.match(
    await run('live', 'list'),
    /^STREAM .*\nlive\/news +live\.example\.com +1 +ONGOING +\S+Z +7 +2100 +\S+ s +local\n$/,
  );
  const shown = await run('live', 'show', ...stream);
  assert.match(shown, /^video +avc1 1280x720 30\/s\naudio +mp4a\nkey frames +every 2000 ms$/m);
  assert.match(shown, /^viewers +flv 4, websocket 0, rtmp 1, hls 2$/m);
  const domain = 'live.example.com';
  assert.match(await run('live', 'viewers', domain, 'live/news'), /^now +4 +0 +1 +2 +7$/m);
  assert.equal(await run('live', 'kick', ...stream), 'the publisher of live/news is disconnected\n');
  await sendLiveReport(socketPath, { ...report, events: [ended(2, name, now, 'kicked')], streams: [] });
  assert.match(await refused('live', 'kick', ...stream), /^causeway: live stream live\/news is not on air$/m);
  assert.match(await run('live', 'history', '1', domain), /^live\/news .* kicked +publish +192\.0\.2\.1 +7 +local$/m);

  assert.equal(
    await run('live', 'forbid', ...stream, '--until', '2099-12-31T12:00:00Z'),
    'live/news is forbidden until 2099-12-31T12:00:00Z\n',
  );
  assert.match(await run('live', 'show', ...stream), /^resumed at +2099-12-31T12:00:00Z$/m);
  assert.match(await run('live', 'list', '--status', 'paused'), /^live\/news .* PAUSED /m);
  assert.equal(await run('live', 'resume', ...stream), 'live/news may be published\n');
  assert.equal(JSON.parse(await run('live', 'list', '--json'))[0].status, 'READY');
  assert.match(
    await refused('live', 'forbid', ...stream, '--until', '2001-01-01'),
    /^causeway: --until is invalid: .* in the future/,
  );
  assert.equal(
    await refused('live', 'forbid', '1', domain, 'news'),
    'causeway: <stream>: expected app/name such as live/news, not news\n',
  );
  assert.match(
    await refused('live', 'forbid', '1', domain, 'live/a b'),
    /^causeway: <stream> is invalid: expected a name/,
  );

  const addresses = await run('live', 'push-info', domain, 'live/news');
  assert.match(addresses, /^publish +rtmp +rtmp:\/\/live\.example\.com:19351\/live\/news\?auth_key=\d+-\w+-0-\w{32}$/m);
  const given = 'encodersOfTheOldCdn';
  const rotated = await run('live', 'keys', '1', domain, '--rotate', 'publish', '--key', given);
  assert.match(rotated, /^publish +encodersOfTheOldCdn +[0-9a-f]{32}$/m);
  assert.match(
    await run('live', 'keys', '1', domain, '--drop-secondary', 'publish'),
    /^publish +encodersOfTheOldCdn +-$/m,
  );
  assert.equal(await refused('live', 'keys', '1', domain, '--key', given), 'causeway: --key goes with --rotate only\n');
});
