/** The whole service with a live domain that ffmpeg publishes to, and players that watch it. Declare with `needs('curl', 'ffmpeg', 'openssl')`. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createClient } from '#client/client.ts';
import { createAuthority } from '../certificates/certificate.ts';
import { eventually } from '../eventually.ts';
import { type RunningService, startService, WITH_LIVE } from '../process/service.ts';
import { untilInForce } from '../process/service-with-domain.ts';
import { obtain } from '../runner/needs.ts';
import { temporaryFolder } from '../temporary.ts';

export const LIVE_HOST = 'live.example.com';

export interface LiveService {
  readonly service: RunningService;
  /** Base URL of the edge, by its address, without a path. */
  readonly edgeUrl: string;
  /** Certificate of the domain, for HTTPS. */
  readonly certificate: string;
  /** Publishes a test picture and a tone until the test ends, or `stop` is called. */
  publish(stream: string, encoding?: readonly string[]): { stop(): Promise<void> };
  /** Status of a GET that is ended with its head. */
  status(path: string): Promise<number>;
}

export async function startLiveService(t: TestContext): Promise<LiveService> {
  const service = await startService(t, { settings: { ...WITH_LIVE, CAUSEWAY_EDGE_WORKERS: '2' } });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { domain_id } = await client.call('domain.add', { domain: LIVE_HOST, cdn_type: '4' });
  const { key: private_key, cert: certificate } = createAuthority(t).issue([LIVE_HOST]);
  const { ssl_key } = await client.call('certificate.add', { ssl_title: 'test', certificate, private_key });
  await client.call('config.setSsl', { domain_id, ssl_control: '1', ssl_key });
  await untilInForce({ client, domain_id });
  const edgeUrl = service.edgeUrl.replace(/\/$/, '');
  const status = async (path: string) => {
    const child = spawn(obtain('curl'), [
      '-s',
      '-o',
      '/dev/null',
      '-m',
      '1',
      '-w',
      '%{http_code}',
      '-H',
      `Host: ${LIVE_HOST}`,
      edgeUrl + path,
    ]);
    return Number(await text(child.stdout));
  };
  return {
    service,
    edgeUrl,
    certificate,
    status,
    publish: (stream, encoding = H264) => publishTo(t, service, stream, encoding),
  };
}

const H264 = [
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-tune',
  'zerolatency',
  '-g',
  '25',
  '-b:v',
  '300k',
  '-c:a',
  'aac',
];

function publishTo(t: TestContext, service: RunningService, stream: string, encoding: readonly string[]) {
  const input = [
    '-re',
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=320x180:rate=25',
    '-f',
    'lavfi',
    '-i',
    'sine=frequency=440:sample_rate=44100',
  ];
  const to = `rtmp://${new URL(service.rtmpUrl).host}/live/${stream}?vhost=${LIVE_HOST}`;
  const args = ['-v', 'error', '-nostdin', ...input, '-t', '120', '-pix_fmt', 'yuv420p', ...encoding, '-f', 'flv', to];
  const child = spawn(obtain('ffmpeg'), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    stop: async () => {
      child.kill('SIGINT'); // it says good-bye
      await ended;
    },
  };
}

/** What ffprobe reads of an address within some seconds. */
export async function probeUrl(url: string, seconds: number) {
  const wanted = ['-show_entries', 'stream=codec_name:packet=codec_type,dts_time', '-of', 'json'];
  const headers = ['-headers', `Host: ${LIVE_HOST}\r\n`];
  const child = spawn(obtain('ffprobe'), [
    '-v',
    'warning',
    ...headers,
    '-read_intervals',
    `%+${seconds}`,
    ...wanted,
    '-i',
    url,
  ]);
  const [out, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const { streams = [], packets = [] } = JSON.parse(out || '{}');
  const codecs: string[] = streams.map((stream: { codec_name: string }) => stream.codec_name);
  return { codecs: codecs.sort().join(' '), packets: packets.length as number, complaints };
}

/** Starts a browser that finds the service under the domain's name, and trusts its certificate. */
export async function startBrowser(t: TestContext, { certificate }: LiveService): Promise<Browser> {
  const spki = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  const trusted = createHash('sha256').update(spki).digest('base64');
  const options = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--autoplay-policy=no-user-gesture-required',
  ];
  const browser = await chromium.launch({
    executablePath: obtain('chromium'),
    env: { ...process.env, HOME: temporaryFolder(t) },
    args: [
      ...options,
      `--host-resolver-rules=MAP ${LIVE_HOST} 127.0.0.1`,
      `--ignore-certificate-errors-spki-list=${trusted}`,
    ],
  });
  t.after(() => browser.close());
  return browser;
}

const PLAYERS = {
  mpegts: 'mpegts.js',
  hls: 'hls.js',
} as const;

/** Plays the address in a page until it has shown a second of it; fails with what the player complains of. */
export async function play(browser: Browser, player: keyof typeof PLAYERS, url: string): Promise<void> {
  const page = await browser.newPage();
  await page.setContent('<video muted autoplay></video>');
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve(PLAYERS[player]) });
  await page.evaluate(`(${PLAY[player]})(${JSON.stringify(url)})`);
  const played = await eventually(
    'it plays',
    async () => {
      const { seconds, frames, problem } = await look(page);
      return ((seconds > 1 && frames > MIN_FRAMES) || problem !== '') && { problem };
    },
    60_000,
  );
  await page.close();
  assert.equal(played.problem, '', url);
}

/** More than a player shows that has stopped behind its first ones; a crowded machine drops most of a second's 25. */
const MIN_FRAMES = 10;

interface Played {
  readonly seconds: number;
  readonly frames: number;
  readonly problem: string;
}

/** Run in the page. */
const PLAY = {
  mpegts: `(url) => {
    const player = mpegts.createPlayer({ type: 'flv', isLive: true, url });
    player.on(mpegts.Events.ERROR, (...what) => { document.title = JSON.stringify(what); });
    const video = document.querySelector('video');
    player.attachMediaElement(video);
    player.load();
    void player.play();
  }`,
  hls: `(url) => {
    const player = new Hls({ lowLatencyMode: true });
    player.on(Hls.Events.ERROR, (_, what) => { if (what.fatal) document.title = what.details; });
    player.loadSource(url);
    player.attachMedia(document.querySelector('video'));
  }`,
} as const;

async function look(page: Page): Promise<Played> {
  const said: unknown = await page.evaluate(`(() => {
    const video = document.querySelector('video');
    const { totalVideoFrames } = video.getVideoPlaybackQuality();
    const played = video.played;
    const seconds = played.length === 0 ? 0 : played.end(played.length - 1) - played.start(0);
    return { seconds, frames: totalVideoFrames, problem: document.title };
  })()`);
  return said as Played; // what the line above makes
}
