/** `causeway live` against a running control, to which a live process reports. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { began, ended, onAir, sendLiveReport } from '../support/live/live-reports.ts';
import { runCommand, startService } from '../support/process/service.ts';

test('a stream is listed, shown, kicked, forbidden and resumed; its domain has keys, addresses, viewers and history', async (t) => {
  const service = await startService(t, {
    // Nothing listens on these ports: edges and live are not among the roles.
    settings: {
      CAUSEWAY_ROLES: 'control',
      CAUSEWAY_RTMP_LISTEN: '127.0.0.1:1935',
      CAUSEWAY_EDGE_HTTP_LISTEN: '127.0.0.1:18080',
      CAUSEWAY_LIVE_PORTS: 'http=8080',
    },
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
  const name = { domainId: 1, app: 'live', stream: 'news', broadcast: 'k3v9' };
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
  // As a live process does: without reports the commands would say that what they show is old.
  const reporting = setInterval(() => void sendLiveReport(socketPath, report).catch(() => undefined), 1000);
  t.after(() => clearInterval(reporting));

  const stream = ['1', 'live.example.com', 'live/news'];
  await run('live', 'forbid', '1', '1', 'live/gala', '--until', '2099-02-01');
  const isDocumented = async (command: string) =>
    assert.equal(shape(await run(...command.split(' '))), shape(documented(command)), command);
  await isDocumented('live list');
  await isDocumented('live show 1 live.example.com live/news');
  await isDocumented('live push-info live.example.com live/news');
  assert.match(await run('live', 'list', '--domain', 'live.example.com', '--status', 'ongoing'), /^live\/news .*\n$/m);
  assert.match(await run('live', 'list', '--domain', '1', '--status', 'paused'), /^live\/gala .*\n$/m);
  assert.match(await refused('live', 'list', '--domain', 'no.example.com'), /domain no\.example\.com does not exist$/m);
  const missing = ['1', 'live.example.com', 'live/none'];
  for (const command of ['show', 'kick', 'resume'])
    assert.equal(await refused('live', command, ...missing), 'causeway: live stream live/none does not exist\n');
  const domain = 'live.example.com';
  assert.match(await run('live', 'viewers', '1', 'live/news'), /^now +4 +0 +1 +2 +7$/m);
  assert.equal(await run('live', 'kick', ...stream), 'publisher of live/news disconnected\n');
  clearInterval(reporting);
  await sendLiveReport(socketPath, { ...report, events: [ended(2, name, now, 'kicked')], streams: [] });
  assert.match(await refused('live', 'kick', ...stream), /^causeway: live stream live\/news is not on air$/m);
  await isDocumented('live history 1 live.example.com');

  assert.equal(
    await run('live', 'forbid', ...stream, '--until', '2099-12-31T12:00:00Z'),
    'live/news forbidden until 2099-12-31T20:00:00+08:00\n',
  );
  assert.match(await run('live', 'show', ...stream), /^resumes +2099-12-31T20:00:00\+08:00$/m);
  assert.match(await run('live', 'list', '--status', 'paused'), /^live\/news .* PAUSED /m);
  assert.equal(await run('live', 'resume', ...stream), 'live/news resumed\n');
  assert.equal(JSON.parse(await run('live', 'list', '--status', 'ready', '--json'))[0].stream_name, 'news');
  assert.equal(
    await refused('live', 'forbid', ...stream, '--until', '2001-01-01'),
    'causeway: --until: expected a time in the future, not 2001-01-01T00:00:00+08:00\n',
  );
  assert.equal(
    await refused('live', 'forbid', '1', domain, 'news'),
    'causeway: <stream>: expected app/name such as live/news, not news\n',
  );
  assert.match(
    await refused('live', 'forbid', '1', domain, 'live/a b'),
    /^causeway: <stream> is invalid: expected a name/,
  );

  const addresses = await run('live', 'push-info', '1', 'live/news');
  assert.match(addresses, /^publish +rtmp +rtmp:\/\/live\.example\.com\/live\/news\?auth_key=\d+-\w+-0-\w{32}$/m);
  const given = 'encodersOfTheOldCdn';
  const rotated = await run('live', 'keys', '1', domain, '--rotate', 'publish', '--key', given);
  assert.match(rotated, /^publish +encodersOfTheOldCdn +[0-9a-f]{32}$/m);
  assert.match(
    await run('live', 'keys', '1', domain, '--drop-secondary', 'publish'),
    /^publish +encodersOfTheOldCdn +-$/m,
  );
  assert.equal(await refused('live', 'keys', '1', domain, '--key', given), 'causeway: --key requires --rotate\n');
});

/** What docs/live.md shows as printed by the command. */
function documented(command: string): string {
  const text = readFileSync(join(import.meta.dirname, '../../docs/live.md'), 'utf8');
  const begin = `\`\`\`console\n$ causeway ${command}\n`;
  const from = text.indexOf(begin);
  assert.notEqual(from, -1, command);
  return text.slice(from + begin.length, text.indexOf('```', from + begin.length));
}

/** The text without times, durations, keys and the widths of columns. */
function shape(printed: string): string {
  return printed
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00/g, '<time>')
    .replace(/\b[\d.]+ (?=m?s\b)/g, '<number> ')
    .replace(/auth_key=\S+/g, 'auth_key=…')
    .replace(/ +/g, ' ');
}
