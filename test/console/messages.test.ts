/** Messages in the console, in a real browser, with a real carrier: searched, sent, followed, answered, counted. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { clientOf, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';
import { startSmsc } from '../support/sms/smsc.ts';

const NUMBER = '13900139000';
const STORED = `+86${NUMBER}`;

/** Text of the CSV file that the button downloads. */
async function download(page: Page, name: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
  return readFileSync(await file.path(), 'utf8');
}

test('messages are sent, followed and found', needs('chromium', 'netSmpp'), async (t) => {
  const console = await startConsole(t, {
    settings: { CAUSEWAY_SMS_WEBHOOK_ALLOW: '127.0.0.0/8', CAUSEWAY_SMS_CURRENCY: 'CNY/1000' },
  });
  const client = clientOf(console);
  const smsc = await startSmsc(t, { receipts: 'none' });
  const carrier = { host: '127.0.0.1', port: smsc.port, system_id: 'cw', password: 'secret' };
  await client.call('smsOperator.setConnector', { name: 'carrier', ...carrier });
  await client.call('smsOperator.setRoute', { prefix: '', connectors: ['carrier'] });
  await client.call('smsOperator.setPrice', { kind: 'ordinary', prefix: '', price: 45 });

  await t.test('an account without a service cannot send', async (t) => {
    const page = await openSignedIn(t, console, '/console/messages');
    await page.getByText('There is no message yet').waitFor();
    await page.getByRole('link', { name: 'Send message' }).first().click();
    await page.getByText('The account has no SMS service').waitFor();
  });

  const { app_key } = await client.call('smsOperator.createApp', { name: 'shop', balance: 10_000 });

  await t.test('a message is written with its price in sight, sent once, and followed to its end', async (t) => {
    const page = await openSignedIn(t, console, '/console/messages/send');
    const submit = page.getByRole('button', { name: /^Send/ });
    await page.getByLabel('Text').fill('您的验证码是 123456。😀'.repeat(6));
    await page.getByText('2 parts').waitFor();
    assert.equal(await page.getByRole('list', { name: 'Parts' }).getByRole('listitem').count(), 2);
    assert.equal(await submit.isDisabled(), true);
    await page.getByLabel('Number').fill('139001390');
    await page.getByLabel('Number').blur();
    await page.getByText('is not in the form of a mobile number').waitFor();
    assert.equal(await submit.isDisabled(), true);
    await page.getByLabel('Number').fill('139 0013 9000');
    const priced = page.getByRole('button', { name: 'Send to 1 number for CN¥0.09' });
    await priced.waitFor();
    await page.getByText('Balance: CN¥10.00').waitFor();
    await priced.dblclick();
    await page.getByRole('heading', { level: 1, name: STORED }).waitFor();
    const part = page.getByRole('region', { name: 'Part 1 of 2' });
    await part.getByText('Accepted by the carrier').waitFor();
    await part.getByText('carrier', { exact: true }).waitFor();
    assert.equal(smsc.submits().length, 2, 'two presses are one message');
    // The receipts come; the page is neither read anew nor polled.
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate('window.isSame = true');
    for (const { id } of smsc.submits()) {
      const text = `id:${BigInt(`0x${id}`)} sub:001 dlvrd:000 submit date:2601310000 done date:2601310000 stat:UNDELIV err:027`;
      smsc.order({
        do: 'deliver',
        from: `86${NUMBER}`,
        to: '1069',
        esmClass: 4,
        text: Buffer.from(text).toString('hex'),
      });
    }
    await part.getByText('Failed', { exact: true }).first().waitFor();
    await part.getByText('UNDELIV/027').waitFor();
    assert.equal(await page.evaluate('window.isSame'), true);
    assert.deepEqual(await findViolations(page), []);
  });

  await t.test('a list of messages moves by itself, is filtered in its address, and is a file', async (t) => {
    const page = await openSignedIn(t, console, '/console/messages');
    const rows = page.getByRole('table', { name: 'Messages' }).getByRole('row');
    await page.getByRole('row', { name: /Failed/ }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const send = { app_key, content: 'hello', time: String(Date.now()) };
    await client.call('sms.ordinary', { ...send, mobile: '13800138000' });
    await page.getByRole('link', { name: '+8613800138000' }).waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption({ label: 'Not delivered' });
    await page.getByRole('link', { name: '+8613800138000' }).waitFor({ state: 'hidden' });
    assert.equal(await rows.count(), 2);
    assert.equal(new URL(page.url()).searchParams.get('status'), 'trouble');
    const [head, row] = (await download(page, 'Download CSV')).trimEnd().split('\r\n');
    assert.equal(head, '\u{feff}created_at,sendid,app_key,kind,mobile,status,parts,price');
    assert.match(row ?? '', new RegExp(`,${app_key},ordinary,'\\+86${NUMBER},failed,2,90$`));
    await page.getByLabel('Number').fill('1380013');
    await page.getByText('Type the whole number').waitFor();
    await page.getByLabel('Number').fill('13800138001');
    await page.getByText('No message matches the filter').waitFor();
    await page.getByRole('link', { name: 'Clear the filter' }).click();
    await page.getByRole('link', { name: '+8613800138000' }).click();
    await page.getByRole('heading', { level: 1, name: '+8613800138000' }).waitFor();
  });

  await t.test('advertising shows its hours, its receivers and its refusal', async (t) => {
    const page = await openSignedIn(t, console, '/console/messages/send');
    await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Advertising' });
    await page.getByText('Sent in the hours 08:00-22:00').waitFor();
    await page.getByLabel('Numbers').fill('13800138000\n13900139000, 13900139000');
    await page.getByLabel('Text').fill('Sale');
    await page.getByRole('button', { name: 'Send to 2 numbers for CN¥0.00' }).waitFor();
    await client.call('sms.updateStatus', { app_key, time: String(Date.now()), status: '0' });
    await page.getByRole('button', { name: 'Send to 2 numbers' }).click();
    await page.getByText('the SMS service is disabled').waitFor();
    await client.call('sms.updateStatus', { app_key, time: String(Date.now() + 1), status: '1' });
  });

  await t.test('a webhook is set, tested, and its answers are listed', async (t) => {
    const receiver = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(500).end('database is locked'));
    }).listen(0, '127.0.0.1');
    t.after(() => receiver.close());
    await once(receiver, 'listening');
    const address = receiver.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/sms`;
    const page = await openSignedIn(t, console, '/console/services');
    await page.getByRole('link', { name: 'shop' }).click();
    await page.getByRole('link', { name: 'Webhook' }).click();
    await page.getByText('Nothing has been posted yet').waitFor();
    await page.getByLabel('Address').fill('http://10.0.0.1/');
    await page.getByRole('button', { name: 'Save address' }).click();
    await page
      .getByRole('alert')
      .getByText(/10\.0\.0\.1/)
      .waitFor();
    await page.getByLabel('Address').fill(url);
    await page.getByRole('button', { name: 'Save address' }).click();
    await page.getByText('Your program checks the signature').waitFor();
    await page.getByRole('button', { name: 'Post a test' }).click();
    await page.getByText('Answered with status 500').waitFor();
    const row = page.getByRole('row', { name: /test.*500/ });
    await row.getByText('database is locked').waitFor();
    const { secret } = await client.call('sms.getWebhook', { app_key });
    await page.getByText(secret).waitFor();
    await page.getByRole('button', { name: 'Make a new secret…' }).click();
    const question = page.getByRole('dialog', { name: 'Make a new secret?' });
    await question.getByText('until it knows it').waitFor();
    assert.deepEqual(await findViolations(page), []);
    await question.getByRole('button', { name: 'Make new secret' }).click();
    await page.getByText(secret).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Disable service…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable service' }).click();
    await page.getByRole('button', { name: 'Enable service' }).click();
    await page.getByRole('button', { name: 'Disable service…' }).waitFor();
    assert.equal((await client.call('sms.getSettings', { app_key })).status, 1);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Hours of advertising').fill('8 to 22');
    await page.getByLabel('Suffix of advertising').fill('【店铺】');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('the hours of advertising, such as 08:00-22:00').waitFor();
    await page.getByLabel('Hours of advertising').fill('off');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The settings have been saved').waitFor();
    const { suffix, marketing_hours } = await client.call('sms.getSettings', { app_key });
    assert.deepEqual([suffix, marketing_hours], ['【店铺】', 'off']);
  });

  await t.test('a reply appears by itself, and opts the number out', async (t) => {
    const page = await openSignedIn(t, console, '/console/replies');
    await page.getByText('There is no reply yet').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    smsc.order({ do: 'deliver', from: `86${NUMBER}`, to: '1069', text: Buffer.from('TD').toString('hex') });
    await page.getByRole('row', { name: new RegExp(`${STORED.replace('+', '\\+')} TD shop`) }).waitFor();
    await page.getByRole('link', { name: 'Opt-outs' }).click();
    await page.getByRole('row', { name: new RegExp(NUMBER) }).waitFor();
    await page.getByRole('button', { name: 'Add numbers' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add numbers' });
    await dialog.getByLabel('Numbers').fill('123');
    await dialog.getByRole('button', { name: 'Add numbers' }).click();
    await dialog.getByText('is not in the form of a mobile number').waitFor();
    await dialog.getByLabel('Numbers').fill('13800138000, 13800138001');
    await dialog.getByRole('button', { name: 'Add numbers' }).click();
    await page.getByRole('row', { name: /13800138001/ }).waitFor();
    await page.getByLabel(/^Number, or/).fill('13800138001');
    await page.getByRole('row', { name: new RegExp(NUMBER) }).waitFor({ state: 'hidden' });
    await page.getByRole('checkbox', { name: 'Choose +8613800138001' }).check();
    await page.getByRole('button', { name: 'Remove 1 number…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove opt-outs' }).click();
    await page.getByText('No number that has opted out begins so').waitFor();
    const { list } = await client.call('sms.getOptOuts', {});
    assert.deepEqual(
      list.map(({ mobile }) => mobile),
      ['+8613800138000', STORED],
    );
    await page.goto('/console/messages/send');
    await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Advertising' });
    await page.getByLabel('Numbers').fill('13800138000');
    await page.getByLabel('Text').fill('Sale');
    await page.getByText('All numbers have opted out.').waitFor();
    await page.getByText('1 number has opted out').waitFor();
  });

  await t.test('messages are counted by day, in Chinese, in the dark, on a phone', async (t) => {
    const viewport = { width: 390, height: 844 };
    const page = await openSignedIn(t, console, '/console/messages/statistics', {
      ...{ locale: 'zh-CN', colorScheme: 'dark', viewport },
    });
    await page.getByText('每日明细').waitFor();
    await page.locator('canvas').waitFor();
    assert.deepEqual(await findViolations(page), []);
    const lines = (await download(page, '下载 CSV')).trimEnd().split('\r\n');
    assert.equal(lines.length, 8);
    const heads = lines[0]?.replace('\u{feff}', '').split(',') ?? [];
    const today = lines.at(-1)?.split(',') ?? [];
    assert.equal(today[heads.indexOf('trouble')], '1');
    for (const path of [
      '/messages',
      '/messages/send',
      '/replies',
      '/replies/opt-outs',
      '/services',
      `/services/${app_key}`,
    ]) {
      await page.goto(`/console${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('status', { name: '加载中' }).first().waitFor({ state: 'hidden' });
      assert.deepEqual(await findViolations(page), [], path);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(width) <= viewport.width, `${path} is ${width} wide`);
    }
  });

  await t.test('an account without the scope sees nothing of it', async (t) => {
    const { account_id } = await client.call('operator.createAccount', { name: 'cdn only' });
    const { access_token } = await client.call('operator.createToken', { account_id, scopes: ['cdn'] });
    const page = await console.open('/console/messages');
    t.after(async () => await page.context().close());
    await signIn(page, access_token);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page
      .getByRole('navigation', { name: 'Main menu' })
      .getByRole('link', { name: 'Domains', exact: true })
      .waitFor();
    assert.equal(await page.getByRole('link', { name: 'Messages' }).count(), 0);
    assert.equal(await page.getByText('Messaging', { exact: true }).count(), 0);
  });

  await eventually('nothing is left in doubt', async () => {
    const { list } = await client.call('sms.find', { status: ['uncertain'] });
    return list.length === 0;
  });
});
