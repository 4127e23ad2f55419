/** What live streams have left, in the console, in a real browser: ffmpeg publishes; then broadcasts, viewers and recordings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { clientOf, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { eventually } from '../support/eventually.ts';
import { Ffmpeg } from '../support/live/ffmpeg-publisher.ts';
import { WITH_LIVE } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';

const DOMAIN = 'live.example.com';
const LONG_MS = 60_000;

test('broadcasts, viewers and recordings', needs('chromium', 'ffmpeg'), async (t) => {
  const console = await startConsole(t, { settings: WITH_LIVE });
  const client = clientOf(console);
  const { domain_id } = await client.call('domain.add', { domain: DOMAIN, cdn_type: '4' });
  await untilInForce({ client, domain_id });
  const recordingOf = async () => await client.call('live.getRecording', { domain: DOMAIN });

  await t.test('recording is turned on beside its list', async (t) => {
    const page = await openSignedIn(t, console, '/console/streams');
    await page.getByRole('link', { name: 'Recordings' }).click();
    await page.getByText('There is no recording').waitFor();
    await page.getByLabel('Keep recordings for').fill('5000');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Expected an integer from 1 to 3650').waitFor();
    assert.equal((await recordingOf()).record, '0');
    await page.getByLabel('Keep recordings for').fill('30');
    await page.getByRole('switch', { name: 'Record all its streams' }).click();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The recording settings are saved').waitFor();
    const { record, keep_days } = await recordingOf();
    assert.deepEqual([record, keep_days], ['1', 30]);
    // What somebody else has set is shown.
    await page.getByText('Live', { exact: true }).waitFor();
    await client.call('live.setRecording', { domain: DOMAIN, record: '1', keep_days: 9 });
    await page.locator('input[value="9"]').waitFor();
    await untilInForce({ client, domain_id });
  });

  const { host } = new URL(console.service.rtmpUrl);
  await using publisher = new Ffmpeg(`rtmp://${host}/live/news?vhost=${DOMAIN}`, { seconds: 300 });

  await t.test('a broadcast is listed while it is on air, and after its end with the reason', async (t) => {
    const page = await openSignedIn(t, console, `/console/streams/broadcasts?domain=${DOMAIN}`);
    const row = page.getByRole('row', { name: /live\/news/ });
    await eventually(
      'it is on air',
      async () => {
        const { list } = await client.call('live.history', { domain: DOMAIN });
        return list[0]?.endtime === 0;
      },
      LONG_MS,
    );
    await page.reload();
    await row.getByText('on air', { exact: true }).waitFor();
    await eventually(
      'its viewers are counted',
      async () => {
        const { list } = await client.call('live.viewers', { domain: DOMAIN });
        return list.length > 0;
      },
      LONG_MS,
    );
    publisher.process.kill('SIGINT'); // it says good-bye
    await publisher.ended();
    await eventually(
      'it has ended',
      async () => {
        const { list } = await client.call('live.history', { domain: DOMAIN });
        return list[0]?.end_reason === 'unpublished';
      },
      LONG_MS,
    );
    await page.reload();
    await row.getByText('the publisher stopped').waitFor();
    const viewers = page.getByRole('region', { name: 'Viewers' });
    await viewers.locator('canvas').waitFor();
    await viewers.getByText('0 now').waitFor();
    await viewers.getByRole('combobox', { name: 'Time' }).selectOption({ label: 'Last 30 days' });
    await viewers.locator('canvas').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('range'), '30d');
    assert.deepEqual(await findViolations(page), []);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findViolations(page), []);
    await row.getByRole('link', { name: 'live/news' }).click();
    await page.getByRole('region', { name: 'Broadcasts' }).getByText('the publisher stopped').waitFor();
  });

  await t.test('a recording is deleted once that was asked for twice', async (t) => {
    const recordings = async () => (await client.call('live.listRecordings', { domain: DOMAIN })).list;
    await eventually(
      'it is stored',
      async () => (await recordings()).some(({ status }) => status === 'COMPLETE'),
      LONG_MS,
    );
    const page = await openSignedIn(t, console, `/console/streams/recordings?domain=${DOMAIN}`);
    await page.getByRole('row', { name: /live\/news/ }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    const kept = (await recordings()).length;
    await page
      .getByRole('button', { name: /^Delete \d{4}/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: /^Delete the recording of/ });
    await dialog.getByText('It cannot be brought back.').waitFor();
    assert.equal((await recordings()).length, kept, 'nothing is deleted by the first press');
    await dialog.getByRole('button', { name: 'Delete recording' }).click();
    await page.getByText('The recording has been deleted').waitFor();
    assert.equal((await recordings()).length, kept - 1);
    await page.goto('/console/streams/recordings?domain=other.example.com');
    await page.getByText('There is nothing here').first().waitFor();
  });

  await t.test('a reader sees the settings, in Chinese and on a phone', async (t) => {
    const { access_token } = await client.call('token.create', { scopes: ['cdn'], access: ['read'] });
    const viewport = { width: 390, height: 844 };
    const page = await console.open(`/console/streams/recordings?domain=${DOMAIN}`, { locale: 'zh-CN', viewport });
    t.after(async () => await page.context().close());
    await signIn(page, access_token, 'zh-CN');
    await page.getByText('9 天').waitFor();
    assert.equal(await page.getByRole('button', { name: '保存设置' }).count(), 0);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
    await page.goto(`/console/streams/broadcasts?domain=${DOMAIN}`);
    await page.getByText('推流端停止推流').waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
  });
});
