/** How far behind a player in Chromium is, as the page itself measures it. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const OPTIONS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--autoplay-policy=no-user-gesture-required',
];
/** A player settles at its distance from the edge of the stream. */
const SETTLE_MS = 12_000;
const SAMPLES = 20;
const SAMPLE_MS = 250;

interface PagePlayer {
  readonly script: string;
  /** Run in the page: begins to play `url`. */
  readonly play: string;
  /** Run in the page: seconds behind. */
  readonly latency: string;
}

/** Both players as their documents set them up for low latency. */
const PLAYERS: Readonly<Record<'hls.js' | 'mpegts.js', PagePlayer>> = {
  'hls.js': {
    script: 'hls.js',
    play: `(url) => {
      window.player = new Hls({ lowLatencyMode: true, maxLiveSyncPlaybackRate: 1.5 });
      player.loadSource(url);
      player.attachMedia(document.querySelector('video'));
    }`,
    // From the instant that the playlist gives for what is shown: when it reached the service.
    latency: '(Date.now() - (player.playingDate?.getTime() ?? Number.NaN)) / 1000',
  },
  'mpegts.js': {
    script: 'mpegts.js',
    play: `(url) => {
      window.player = mpegts.createPlayer(
        { type: 'flv', isLive: true, url },
        { enableStashBuffer: false, liveSync: true, liveSyncMaxLatency: 0.8, liveSyncTargetLatency: 0.4 },
      );
      const video = document.querySelector('video');
      player.attachMediaElement(video);
      player.load();
      void player.play();
    }`,
    // What has arrived and is not shown yet; the way from the service over loopback takes a few milliseconds more.
    latency: `(() => {
      const video = document.querySelector('video');
      return video.buffered.end(video.buffered.length - 1) - video.currentTime;
    })()`,
  },
};

/** The median in seconds, and how many frames were dropped. `host` is resolved to this machine. */
export async function measureLatency(
  name: keyof typeof PLAYERS,
  url: string,
  host: string,
): Promise<{ readonly seconds: number; readonly droppedFrames: number }> {
  const player = PLAYERS[name];
  await using page = await openPage(player.script, host);
  await page.run(`(${player.play})(${JSON.stringify(url)})`);
  await delay(SETTLE_MS);
  const samples: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    samples.push(Number(await page.run(player.latency)));
    await delay(SAMPLE_MS);
  }
  samples.sort((a, b) => a - b);
  const dropped = await page.run("document.querySelector('video').getVideoPlaybackQuality().droppedVideoFrames");
  return { seconds: samples[SAMPLES / 2] ?? Number.NaN, droppedFrames: Number(dropped) };
}

interface OpenPage extends AsyncDisposable {
  run(script: string): Promise<unknown>;
}

async function openPage(script: string, host: string): Promise<OpenPage> {
  const source = readFileSync(createRequire(import.meta.url).resolve(script));
  const server = createServer(({ url }, response) => {
    if (url === '/player.js') response.setHeader('content-type', 'text/javascript').end(source);
    else
      response
        .setHeader('content-type', 'text/html')
        .end('<script src="player.js"></script><video muted autoplay></video>');
  }).listen(0, '127.0.0.1');
  // `as`: it listens on a port.
  const { port } = await new Promise<AddressInfo>((resolve) =>
    server.once('listening', () => resolve(server.address() as AddressInfo)),
  );
  const rules = `--host-resolver-rules=MAP ${host} 127.0.0.1`;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...OPTIONS, rules] });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  return {
    run: (text) => page.evaluate(text),
    async [Symbol.asyncDispose]() {
      await browser.close();
      server.close();
    },
  };
}
