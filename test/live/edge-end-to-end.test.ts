/** ffmpeg publishes to the whole service; ffprobe, mpegts.js and hls.js play what its edge serves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { LIVE_HOST, play, probeUrl, startBrowser, startLiveService } from '../support/live/live-service.ts';
import { needs } from '../support/runner/needs.ts';

const PLAYERS = needs('chromium', 'curl', 'ffmpeg', 'ffprobe', 'openssl', { timeout: 300_000 });

test('a stream is played as HTTP-FLV, WebSocket-FLV and HLS, and ends with its publisher', PLAYERS, async (t) => {
  const live = await startLiveService(t);
  const { edgeUrl, service, publish, status } = live;
  assert.equal(await status('/live/a.flv'), 404);
  const publisher = publish('a');
  await eventually('on air', async () => (await status('/live/a.flv')) === 200, 30_000);
  const [plain, tls] = [new URL(edgeUrl).port, new URL(service.edgeHttpsUrl).port];
  const browser = await startBrowser(t, live);
  for (const [player, scheme, path] of [
    ['mpegts', 'http', '/live/a.flv'],
    ['mpegts', 'ws', '/live/a.flv'],
    ['hls', 'http', '/live/a.m3u8'],
    ['mpegts', 'https', '/live/a.flv'],
    ['mpegts', 'wss', '/live/a.flv'],
    ['hls', 'https', '/live/a.m3u8'],
  ] as const) {
    const port = scheme.endsWith('s') && scheme !== 'ws' ? tls : plain;
    await play(browser, player, `${scheme}://${LIVE_HOST}:${port}${path}`);
  }
  for (const path of ['/live/a.flv', '/live/a.m3u8']) {
    const { codecs, packets, complaints } = await probeUrl(edgeUrl + path, 2);
    assert.equal(codecs, 'aac h264', `${path}: ${complaints}`);
    assert.ok(packets > 60, `${path}: ${packets} packets`);
  }
  await publisher.stop();
  await eventually('over', async () => (await status('/live/a.flv')) === 404);
});
