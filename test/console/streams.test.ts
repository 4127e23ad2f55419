/** Live streams in the console, in a real browser: ffmpeg publishes, the page plays, and nobody counts it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { findViolations } from '../support/console/axe.ts';
import { startConsole, type TestConsole } from '../support/console/browser.ts';
import { clientOf, openSignedIn } from '../support/console/signed-in.ts';
import { eventually } from '../support/eventually.ts';
import { Ffmpeg } from '../support/live/ffmpeg-publisher.ts';
import { WITH_LIVE } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';

const DOMAIN = 'live.example.com';
const STREAM = `/console/streams/${DOMAIN}/live/news`;
/** H.264 and AAC with a key frame each second: a player begins soon. */
const CODECS = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '15', '-c:a', 'aac'];
const INPUTS = [
  ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=15'],
  ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100'],
];

function publish({ service }: TestConsole, stream: string): Ffmpeg {
  const { host } = new URL(service.rtmpUrl);
  const url = `rtmp://${host}/live/${stream}?vhost=${DOMAIN}`;
  return new Ffmpeg(url, { seconds: 300, codecs: ['-pix_fmt', 'yuv420p', ...CODECS], inputs: INPUTS });
}

async function playedSeconds(page: Page): Promise<number> {
  return Number(
    await page.evaluate(`(() => {
    const { played } = document.querySelector('video') ?? { played: [] };
    return played.length === 0 ? 0 : played.end(played.length - 1) - played.start(0);
  })()`),
  );
}

test('live streams are listed, played and cut', needs('chromium', 'ffmpeg'), async (t) => {
  const console = await startConsole(t, {
    settings: { ...WITH_LIVE, CAUSEWAY_STAT_SECONDS: '1', CAUSEWAY_LOG_ROTATE_SECONDS: '1' },
  });
  const client = clientOf(console);

  await t.test('the page leads to adding a domain while there is no live one', async (t) => {
    const page = await openSignedIn(t, console, '/console/streams');
    await page.getByText('There is no live domain yet').waitFor();
    await page.getByText('No stream is on air').waitFor();
  });

  const { domain_id } = await client.call('domain.add', { domain: DOMAIN, cdn_type: '4' });
  await untilInForce({ client, domain_id });

  await t.test('the addresses of a new stream are shown with what OBS and ffmpeg want', async (t) => {
    const page = await openSignedIn(t, console, '/console/streams');
    await page.getByLabel('Name of the stream').fill('news');
    await page.getByRole('button', { name: 'Show addresses' }).click();
    await page.getByText(/^news\?auth_key=/).waitFor();
    await page.getByText(/^ffmpeg -re -i file\.mp4 -c copy -f flv 'rtmp:\/\/live\.example\.com[^']+'$/).waitFor();
    await page.getByRole('button', { name: 'Copy: hls', exact: true }).waitFor();
    await page.getByLabel('Name of the stream').fill('a b');
    await page.getByRole('button', { name: 'Show addresses' }).click();
    await page
      .getByRole('alert')
      .getByText(/stream_name/)
      .waitFor();
  });

  await using news = publish(console, 'news');

  await t.test('a stream is listed, plays through control, and ends with its publisher', async (t) => {
    const page = await openSignedIn(t, console, '/console/streams');
    const row = page.getByRole('row', { name: /live\/news/ });
    await row.getByText('On air').waitFor({ timeout: 60_000 });
    await row.getByText('avc1, mp4a').waitFor({ timeout: 60_000 });
    await row.getByText('127.0.0.1').waitFor();
    await row.getByRole('link', { name: 'live/news' }).click();
    await page.getByText('320 × 180').waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByLabel('Stream live/news').waitFor();
    await eventually('it plays', async () => (await playedSeconds(page)) > 2, 60_000);
    t.diagnostic(news.log);

    // What is counted of it is nothing, two reports of the live process later.
    const before = Date.now();
    await eventually('the live process has reported since', async () => {
      const { list } = await client.call('live.list', { domain: DOMAIN });
      const age = list[0]?.details?.report_age_ms ?? Number.POSITIVE_INFINITY;
      return Date.now() - before > 5_500 && age < 5_000;
    });
    const { list } = await client.call('live.list', { domain: DOMAIN });
    assert.deepEqual(list[0]?.details?.viewers, { flv: 0, websocket: 0, rtmp: 0, hls: 0 });
    const { list: minutes } = await client.call('live.viewers', { domain: DOMAIN });
    assert.deepEqual(
      minutes.filter(({ flv, websocket, rtmp, hls }) => flv + websocket + rtmp + hls > 0),
      [],
    );
    assert.equal((await client.call('stat.requests', { domain: DOMAIN })).total.status_2xx, 0);
    assert.match(await metricsOf(console), /^causeway_api_previews(?:\{[^}]*\})? 1$/m);

    const other = await console.openBeside(page, STREAM);
    await other.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually('another tab plays', async () => (await playedSeconds(other)) > 0, 60_000);
    await page.getByText('another one was opened').waitFor();
    assert.deepEqual(await findViolations(other), []);
    await other.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findViolations(other), []);
    await other.getByRole('button', { name: 'Stop' }).click();
    await eventually('control has let it go', async () =>
      /^causeway_api_previews(?:\{[^}]*\})? 0$/m.test(await metricsOf(console)),
    );
  });

  await t.test('an operator kicks a publisher, and forbids and resumes a stream', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/streams');
    await page.getByRole('link', { name: 'live/news' }).click();
    const dialog = page.getByRole('dialog', { name: 'live/news' });
    await dialog.getByText('127.0.0.1').waitFor();
    await dialog.getByRole('button', { name: 'Kick publisher' }).click();
    await page.getByText('The publisher of live/news is disconnected').waitFor();
    await news.ended();
    await page
      .getByRole('row', { name: /live\/news/ })
      .getByText('Off air')
      .waitFor({ timeout: 60_000 });
    await page.getByRole('link', { name: 'live/news' }).click();
    await dialog.getByRole('combobox', { name: 'For how long' }).selectOption({ label: 'An hour' });
    await dialog.getByRole('button', { name: 'Forbid stream' }).click();
    await page.getByText('live/news is forbidden').waitFor();
    await page
      .getByRole('row', { name: /live\/news/ })
      .getByText('Forbidden')
      .waitFor();
    await page.getByRole('link', { name: 'live/news' }).click();
    await dialog.getByRole('button', { name: 'Resume stream' }).click();
    await page.getByText('live/news can be published again').waitFor();
  });

  await t.test('an operator sees the broadcasts of a domain, and changes its keys', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/streams');
    await page.getByRole('link', { name: 'live/news' }).click();
    const dialog = page.getByRole('dialog', { name: 'live/news' });
    await dialog.getByRole('link', { name: 'Keys and broadcasts of the domain' }).click();
    await page.getByRole('heading', { level: 1, name: DOMAIN }).waitFor();
    await page
      .getByRole('row', { name: /live\/news/ })
      .getByText('the publisher was kicked')
      .waitFor();
    await page.getByRole('button', { name: 'Forbid a stream…' }).click();
    const forbid = page.getByRole('dialog', { name: 'Forbid a stream' });
    await forbid.getByLabel('Name of the stream').fill('never');
    await forbid.getByLabel('For how long').selectOption({ label: 'A day' });
    await forbid.getByRole('button', { name: 'Forbid stream' }).click();
    await page.getByText('Nobody can publish it').waitFor();
    const { list } = await client.call('liveOperator.list', { stream_name: 'never' });
    assert.equal(list[0]?.status, 'PAUSED');
    assert.ok((list[0]?.resume_at ?? 0) > Date.now() / 1000 + 86_000);
    await page.getByRole('button', { name: 'Show keys' }).click();
    // The page of addresses has made it.
    const { publish: made } = await client.call('liveOperator.getKeys', { account_id: '1', domain_id });
    await page.getByText(made[0] ?? 'none', { exact: true }).waitFor();
    await page.getByText('No key: everybody can play.').waitFor();
    const choose = async (kind: string, act: string) => {
      await page.getByRole('button', { name: `Change keys: ${kind}` }).click();
      await page.getByRole('menuitem', { name: act }).click();
    };
    await choose('Publishing', 'Replace key…');
    const form = page.getByRole('dialog', { name: 'A new key for publishing' });
    await form.getByLabel('New key').fill('short');
    await form.getByRole('button', { name: 'Replace key' }).click();
    await form.getByText(/^Expected 16 to 64 letters and digits/).waitFor();
    await form.getByLabel('New key').fill('Aq7Zw2Xs9Ed4Rf6T');
    await form.getByRole('button', { name: 'Replace key' }).click();
    await page.getByText('Aq7Zw2Xs9Ed4Rf6T', { exact: true }).waitFor();
    await page.getByText(made[0] ?? 'none', { exact: true }).waitFor();
    await choose('Publishing', 'Drop secondary key');
    await page.getByRole('dialog').getByRole('button', { name: 'Drop secondary key' }).click();
    await page.getByText(made[0] ?? 'none', { exact: true }).waitFor({ state: 'hidden' });
    await choose('Playing', 'Replace key…');
    await page.getByRole('dialog').getByRole('button', { name: 'Replace key' }).click();
    await page.getByText('No key: everybody can play.').waitFor({ state: 'hidden' });
    await choose('Playing', 'Remove all keys');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove all keys' }).click();
    await page.getByText('No key: everybody can play.').waitFor();
    const keys = await client.call('liveOperator.getKeys', { account_id: '1', domain_id });
    assert.deepEqual(keys, { publish: ['Aq7Zw2Xs9Ed4Rf6T'], play: [] });
    assert.deepEqual(await findViolations(page), []);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findViolations(page), []);
  });

  await t.test('a recording plays, and can be downloaded', async (t) => {
    await client.call('live.setRecording', { domain: DOMAIN, record: '1' });
    await using publisher = publish(console, 'recorded');
    await eventually(
      'a piece is stored',
      async () => (await client.call('live.listRecordings', { domain: DOMAIN })).list.some(({ size }) => size !== '0'),
      60_000,
    );
    const page = await openSignedIn(t, console, `/console/streams/${DOMAIN}/live/recorded`);
    await page.getByRole('button', { name: /^Play \d{4}/ }).click();
    await page.getByLabel('Recording', { exact: true }).waitFor();
    await eventually('it plays', async () => (await playedSeconds(page)) > 1, 60_000);
    const href = await page.getByRole('link', { name: /^Download/ }).getAttribute('href');
    const answer = await fetch(href ?? '', { headers: { range: 'bytes=4-7' } });
    assert.equal(await answer.text(), 'ftyp');
    assert.equal(publisher.process.exitCode, null);
  });

  await t.test('the pages are there in Chinese and on a phone', async (t) => {
    const page = await openSignedIn(t, console, '/console/streams', {
      locale: 'zh-CN',
      viewport: { width: 390, height: 844 },
    });
    await page.getByRole('heading', { level: 1, name: '直播流' }).waitFor();
    await page.getByRole('link', { name: 'live/news' }).click();
    await page.getByText('开播后可在此播放。').waitFor();
    await page.getByRole('button', { name: '显示地址' }).click();
    await page.getByText('OBS：服务器与串流密钥').first().waitFor();
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.equal(width, 390);
    await page.goto('/console/streams/live.example.com/live/unknown');
    await page.getByText('没有这个直播流').waitFor();
    await page.goto(`/console/operator/streams/${DOMAIN}`);
    await page.getByRole('button', { name: '显示密钥' }).click();
    await page.getByText('没有密钥：任何人均可播放。').waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  });
});

async function metricsOf({ service }: TestConsole): Promise<string> {
  return await (await fetch(service.metricsUrl)).text();
}
