/** The whole service records what ffmpeg publishes; ffprobe and ffmpeg read the download and the playlist. A live process is killed. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { readPiece } from '#live/recording/piece-file.ts';
import { eventually } from '../support/eventually.ts';
import { decode, probe } from '../support/live/ffmpeg.ts';
import { Ffmpeg, probeUrl } from '../support/live/ffmpeg-publisher.ts';
import { runCommand, startService, WITH_LIVE } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HOST = 'live.example.com';
const PROGRAMS = needs('ffmpeg', 'ffprobe', { timeout: 300_000 });

async function start(t: TestContext) {
  const service = await startService(t, { settings: WITH_LIVE });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { domain_id } = await client.call('domain.add', { domain: HOST, cdn_type: '4' });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, ['live', ...args, '--data-dir', service.dataDir]);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    return stdout;
  };
  const refused = async (...args: string[]) => {
    const { code, stderr } = await runCommand(t, ['live', ...args, '--data-dir', service.dataDir]);
    assert.equal(code, 1, args.join(' '));
    return stderr.trimEnd();
  };
  assert.match(await run('record', domain_id, '--on', '--days', '30'), /^recording +on\nkept for +30 days$/m);
  await untilInForce({ client, domain_id });
  const url = `rtmp://${new URL(service.rtmpUrl).host}/live/a?vhost=${HOST}`;
  const recording = async (end: string) => {
    const { list } = await client.call('live.listRecordings', { domain: HOST });
    return list.find(({ end_reason }) => end_reason === end);
  };
  return { service, url, recording, run, refused, domainId: domain_id };
}

test('a broadcast of ffmpeg is recorded, downloaded and played whole', PROGRAMS, async (t) => {
  const { url, recording, run, refused, domainId } = await start(t);
  await using publisher = new Ffmpeg(url, { seconds: 13, isUnpaced: true });
  assert.equal(await publisher.ended(), 0, publisher.log);
  const found = await eventually('it is listed', () => recording('ended'));
  assert.equal(found.status, 'COMPLETE');
  assert.ok(Math.abs(found.duration_ms - 13_000) < 200, `${found.duration_ms}`);
  const file = join(temporaryFolder(t), 'a.mp4');
  assert.match(await run('recordings', HOST, 'live/a'), /^\w{32} +live\/a .* COMPLETE +ended$/m);
  await run('download', domainId, found.recording_id, file);
  assert.match(await refused('download', HOST, found.recording_id, file), /cannot create .*a\.mp4: it already exists$/);
  assert.match(
    await refused('download', HOST, found.recording_id, '/nowhere/a'),
    /cannot create \/nowhere\/a: no such file or folder$/,
  );
  assert.match(await refused('download', HOST, found.recording_id, '-'), /cannot be written to standard output$/);
  const bytes = readFileSync(file);
  assert.equal(String(bytes.length), found.size);
  const { packets, complaints } = await probe(bytes);
  assert.equal(complaints, '');
  assert.equal(packets.filter(({ kind }) => kind === 'video').length, 390);
  assert.equal(await decode(bytes), '');
  const [video = '', audio = ''] = await probeUrl(found.playlist_url);
  assert.equal(video, 'h264,390');
  assert.match(audio, /^aac,5\d\d$/);
  await run('delete-recording', HOST, found.recording_id);
  assert.equal((await fetch(found.download_url)).status, 404);
});

test('a live process that is killed loses at most the open part', PROGRAMS, async (t) => {
  const { service, url, recording } = await start(t);
  await using publisher = new Ffmpeg(url, { seconds: 120 });
  await eventually('a piece is stored', () => recording(''), 60_000);
  const onDiskMs = await eventually('the next piece has a second on disk', () => {
    const { durationMs = 0 } = readOpenPiece(join(service.dataDir, 'live', 'recordings')) ?? {};
    return durationMs > 1_000 && durationMs;
  });
  process.kill(service.pids()['live'] ?? 0, 'SIGKILL');
  await publisher.ended();
  const found = await eventually('the rest is sent by the next process', () => recording('crashed'), 60_000);
  assert.equal(found.status, 'INCOMPLETE');
  const bytes = Buffer.from(await (await fetch(found.download_url)).arrayBuffer());
  const { packets } = await probe(bytes);
  const frames = packets.filter(({ kind }) => kind === 'video').length;
  assert.ok(Math.abs(found.duration_ms - (frames * 1000) / 30) < 100, `${frames} frames of ${found.duration_ms} ms`);
  assert.ok(found.duration_ms >= 10_000 + Math.floor(onDiskMs), `${found.duration_ms} ms, ${onDiskMs} were on disk`);
  assert.equal(await decode(bytes), '');
});

/** Reads the second piece of the only recording while it is being written. */
function readOpenPiece(spool: string) {
  const name = readdirSync(spool, { recursive: true, encoding: 'utf8' }).find((one) => one.endsWith('/1.open'));
  return name === undefined ? undefined : readPiece(readFileSync(join(spool, name)));
}
