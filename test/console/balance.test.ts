/** Balance and ledger in the console, in a real browser: of a customer, and of an account before its operator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { clientOf, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

const STORED = '+8613800138000';

test('the balance is the sum of the ledger', needs('chromium'), async (t) => {
  const console = await startConsole(t, { settings: { CAUSEWAY_SMS_CURRENCY: 'CNY/1000' } });
  const client = clientOf(console);
  await client.call('smsOperator.setPrice', { kind: 'ordinary', prefix: '', price: 45 });
  const { app_key, account_id } = await client.call('smsOperator.createApp', { name: 'shop', balance: 10_000 });

  await t.test('what a message costs is listed, with a link to it', async (t) => {
    const page = await openSignedIn(t, console, '/console/messages');
    await page.getByRole('main').getByRole('link', { name: 'Balance' }).click();
    await page.getByText('Balance: CN¥10.00').waitFor();
    const send = { app_key, content: 'hello', mobile: '13800138000', time: String(Date.now()) };
    await client.call('sms.ordinary', send);
    await page.reload();
    await page.getByText('Balance: CN¥9.955').waitFor();
    const row = page.getByRole('row', { name: /^held.*0\.045/ });
    await row.waitFor();
    await page.getByRole('row', { name: /^recharge.*10\.00/ }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findViolations(page), []);
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: STORED }).waitFor();
  });

  await t.test('a long ledger is read page by page, and the page is in the address', async (t) => {
    for (let n = 1; n <= 25; n += 1)
      await client.call('smsOperator.recharge', { account_id, amount: n * 1000, reference: `invoice ${n}` });
    const page = await openSignedIn(t, console, '/console/messages/balance');
    await page.getByText('invoice 25', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Earlier entries' }).click();
    await page.getByText('invoice 5', { exact: true }).waitFor();
    await page.getByText('invoice 25', { exact: true }).waitFor({ state: 'hidden' });
    assert.match(new URL(page.url()).search, /^\?before=\d+$/);
    await page.reload();
    await page.getByText('invoice 5', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Latest entries' }).click();
    await page.getByText('invoice 25', { exact: true }).waitFor();
    await page.goto(`/console/operator/accounts/${account_id}/money`);
    await page.getByText('invoice 25', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Earlier entries' }).click();
    await page.getByText('invoice 5', { exact: true }).waitFor();
  });

  await t.test('a reader without access to money has no such tab, and reads why', async (t) => {
    const { access_token } = await client.call('token.create', { scopes: ['sms'], access: ['read'] });
    const viewport = { width: 390, height: 844 };
    const page = await console.open('/console/messages', { locale: 'zh-CN', viewport });
    t.after(async () => await page.context().close());
    await signIn(page, access_token, 'zh-CN');
    const tabs = page.getByRole('main').getByRole('navigation');
    await tabs.getByRole('link', { name: '统计' }).waitFor();
    assert.equal(await tabs.getByRole('link', { name: '余额' }).count(), 0);
    await page.goto('/console/messages/balance');
    await page.getByText('没有查看权限').waitFor();
  });

  await t.test('the page is there in Chinese and on a phone', async (t) => {
    const viewport = { width: 390, height: 844 };
    const page = await openSignedIn(t, console, '/console/messages/balance', { locale: 'zh-CN', viewport });
    await page.getByText('余额：').waitFor();
    await page.getByText('充值', { exact: true }).first().waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
  });
});
