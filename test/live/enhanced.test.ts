/**
 * Enhanced RTMP through the whole service: frames that ffmpeg encoded, wrapped by the test as the specification says. No real sender of it
 * was tried. Chromium plays AV1 and Opus; HEVC, which it does not decode, is read by ffprobe.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { enhancedMessages, repeated } from '../support/live/enhanced-flv.ts';
import { encode } from '../support/live/ffmpeg.ts';
import { LIVE_HOST, play, probeUrl, startBrowser, startLiveService } from '../support/live/live-service.ts';
import { publishPaced } from '../support/live/paced-publisher.ts';
import { needs } from '../support/runner/needs.ts';

const PLAYERS = needs('chromium', 'curl', 'ffmpeg', 'ffprobe', 'openssl', { timeout: 300_000 });
const CLIP_SECONDS = 4;
/** Time of the second key frame. mpegts.js 1.8.2 throws at the headers of some later ones, even as ffmpeg made them. */
const FIRST_KEY_FRAME_MS = 1000;
const AV1 = ['libsvtav1', '-preset', '12', '-g', '30', '-svtav1-params', 'lp=2'];
const HEVC = ['libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error:keyint=30', '-tag:v', 'hvc1'];

test('AV1 and Opus are played by mpegts.js and hls.js, HEVC is read as HLS', PLAYERS, async (t) => {
  const live = await startLiveService(t);
  const { service, edgeUrl, status } = live;
  const port = Number(new URL(service.rtmpUrl).port);
  const [av1, hevc] = await Promise.all([
    encode('mp4', { seconds: CLIP_SECONDS, video: AV1, audio: ['libopus'], sampleRate: 48_000 }),
    encode('mp4', { seconds: CLIP_SECONDS, video: HEVC }),
  ]);
  for (const [name, clip, clipMs] of [
    ['av1', av1, FIRST_KEY_FRAME_MS],
    ['hevc', hevc, CLIP_SECONDS * 1000],
  ] as const) {
    const messages = repeated(enhancedMessages(clip), clipMs);
    await publishPaced(t, { port, app: 'live', stream: `${name}?vhost=${LIVE_HOST}`, messages });
    await eventually(`${name} is on air`, async () => (await status(`/live/${name}.flv`)) === 200, 30_000);
  }
  const browser = await startBrowser(t, live);
  const base = `http://${LIVE_HOST}:${new URL(edgeUrl).port}`;
  await play(browser, 'mpegts', `${base}/live/av1.flv`);
  await play(browser, 'hls', `${base}/live/av1.m3u8`);
  const read = await probeUrl(`${edgeUrl}/live/hevc.m3u8`, 2);
  assert.equal(read.codecs, 'hevc', read.complaints);
  assert.ok(read.packets > 30, `${read.packets} packets`);
});
