/** The events of an account and their webhook in the console, in a real browser, with a real receiver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, clientOf, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { isSigned, startReceiver } from '../support/events/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const SECRET = /^[0-9a-f]{64}$/;

test('events are listed and posted', needs('chromium'), async (t) => {
  const console = await startConsole(t, {
    settings: { CAUSEWAY_SMS_WEBHOOK_ALLOW: '127.0.0.0/8', CAUSEWAY_PURGE_URLS_PER_DAY: '5' },
  });
  const client = clientOf(console);
  const receiver = await startReceiver(t);
  await addDomain(console, 'www.example.com');

  await t.test(
    'a webhook is set, and its secret is shown when it was made, and else when it is asked for',
    async (t) => {
      const page = await openSignedIn(t, console, '/console/events');
      await page.getByText('Events are posted nowhere.').waitFor();
      await page.getByText('Nothing has happened').waitFor();
      await page.getByRole('button', { name: 'Change webhook' }).click();
      const form = page.getByRole('dialog', { name: 'Change webhook' });
      await form.getByLabel('Address').fill('http://10.0.0.1/');
      await form.getByRole('button', { name: 'Save webhook' }).click();
      await form.getByText(/10\.0\.0\.1/).waitFor();
      await form.getByLabel('Address').fill(receiver.url);
      await form.getByRole('button', { name: 'Save webhook' }).click();
      await page.getByText(SECRET).waitFor();
      const { secret } = await client.call('event.getWebhook', {});
      assert.equal(await page.getByText(SECRET).textContent(), secret);
      await page.reload();
      await page.getByRole('button', { name: 'Show secret' }).waitFor();
      assert.equal(await page.getByText(secret).count(), 0);
      assert.deepEqual(await findViolations(page), []);
      await page.getByRole('button', { name: 'Show secret' }).click();
      await page.getByText(secret).waitFor();
      await page.getByRole('button', { name: 'Change webhook' }).click();
      await form.getByRole('combobox', { name: 'Secret' }).selectOption({ label: 'make a new one' });
      await form.getByRole('button', { name: 'Save webhook' }).click();
      await page.getByText(secret).waitFor({ state: 'hidden' });
      await page.getByText(SECRET).waitFor();
    },
  );

  await t.test('an event appears by itself, is posted, and is found by what it is about', async (t) => {
    const page = await openSignedIn(t, console, '/console/events');
    await page.getByText('Nothing has happened').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await client.call('cache.purge', { urls: [1, 2, 3, 4].map((n) => `http://www.example.com/${n}`) });
    const row = page.getByRole('row', { name: /URL purges a day: 4 of 5/ });
    await row.getByText('warning', { exact: true }).waitFor({ timeout: 60_000 });
    const { secret } = await client.call('event.getWebhook', {});
    await eventually('it is posted with the new secret', () => receiver.posted.some((one) => isSigned(one, secret)));
    await page.getByRole('combobox', { name: 'About' }).selectOption({ label: 'Origins' });
    await page.getByText('Nothing has happened').waitFor();
    assert.equal(new URL(page.url()).search, '?about=origins');
    await page.getByRole('combobox', { name: 'About' }).selectOption({ label: 'Limits' });
    await row.waitFor();
    await page.getByRole('combobox', { name: 'Severity' }).selectOption({ label: 'critical' });
    await row.waitFor({ state: 'hidden' });
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findViolations(page), []);
  });

  await t.test('a webhook is taken away by an empty address', async (t) => {
    const page = await openSignedIn(t, console, '/console/events');
    await page.getByRole('button', { name: 'Change webhook' }).click();
    const form = page.getByRole('dialog', { name: 'Change webhook' });
    await form.getByLabel('Address').fill('');
    await form.getByRole('button', { name: 'Save webhook' }).click();
    await page.getByText('Events are posted nowhere.').waitFor();
    assert.equal((await client.call('event.getWebhook', {})).url, '');
  });

  await t.test('a reader sees the events, in Chinese and on a phone, and no webhook', async (t) => {
    const { access_token } = await client.call('token.create', { scopes: ['cdn'], access: ['read'] });
    const viewport = { width: 390, height: 844 };
    const page = await console.open('/console/events', { locale: 'zh-CN', viewport });
    t.after(async () => await page.context().close());
    await signIn(page, access_token, 'zh-CN');
    await page.getByText(/每日网址刷新接近限额：4 \/ 5/).waitFor();
    assert.equal(await page.getByRole('button', { name: '修改推送地址' }).count(), 0);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
  });
});
