/** SMS connectors, routes, prices and opt-outs of the operator in the console, with a real carrier, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConsole } from '../support/console/browser.ts';
import { clientOf, openSignedIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';
import { startSmsc } from '../support/sms/smsc.ts';

test('connectors are added, seen as they are, routed and priced', needs('chromium', 'netSmpp'), async (t) => {
  const console = await startConsole(t);
  const smsc = await startSmsc(t, { password: 'secret' });
  const operator = clientOf(console);

  await t.test('a connector is seen bound, and not bound when its carrier is gone', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/connectors');
    await page.getByText(/^It reaches no carrier/).waitFor();
    await page.getByRole('link', { name: 'Add connector' }).click();
    await page.getByLabel('Name', { exact: true }).fill('carrier');
    await page.getByLabel('Host', { exact: true }).fill('not a host');
    await page.getByLabel('Port').fill(String(smsc.port));
    await page.getByLabel('System id').fill('shop');
    await page.getByLabel('Password').fill('secret');
    await page.getByRole('button', { name: 'Save connector' }).click();
    await page.getByText(/^Expected the host name or IP address/).waitFor();
    await page.getByLabel('Host', { exact: true }).fill('127.0.0.1');
    await page.getByRole('button', { name: 'Save connector' }).click();
    const card = page.getByRole('region', { name: 'carrier' });
    await card.getByText('bound', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Test' }).click();
    await page.getByRole('dialog').getByText('The carrier accepted a session.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await smsc.stop();
    await card.getByText('not bound', { exact: true }).waitFor();
  });

  await t.test(
    'a connector is changed without its password, unless somebody else has changed it meanwhile',
    async (t) => {
      const page = await openSignedIn(t, console, '/console/operator/connectors/edit?name=carrier');
      await page.getByLabel('Window').fill('25');
      await operator.call('smsOperator.setConnector', { name: 'carrier', rate: 5 });
      await page.getByRole('button', { name: 'Save connector' }).click();
      await page.getByText('Somebody else has changed it meanwhile.').waitFor();
      await page.reload();
      await page.getByLabel('Window').fill('25');
      await page.getByRole('button', { name: 'Save connector' }).click();
      await page.getByRole('region', { name: 'carrier' }).getByText('0 of 25').waitFor();
      const { list } = await operator.call('smsOperator.listConnectors', {});
      assert.deepEqual(list.find(({ name }) => name === 'carrier')?.rate, 5, 'what was not changed stays');
    },
  );

  await t.test('routes and prices are set, tried with a number, and deleted', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/connectors?view=routes');
    await page.getByRole('button', { name: 'Add route' }).click();
    const route = page.getByRole('dialog', { name: 'Route of a prefix' });
    await route.getByLabel('Prefix of numbers').fill('+852');
    await route.getByLabel('Connectors').fill('carrier,loopback');
    await route.getByRole('button', { name: 'Save route' }).click();
    await page.getByRole('row', { name: '+852 carrier → loopback' }).waitFor();
    await page.getByRole('link', { name: 'Prices' }).click();
    await page.getByRole('button', { name: 'Set price' }).click();
    const price = page.getByRole('dialog', { name: 'Price of a part' });
    await price.getByLabel('Prefix of numbers').fill('+852');
    await price.getByLabel('Price', { exact: true }).fill('8');
    await price.getByRole('button', { name: 'Save price' }).click();
    await page.getByRole('row', { name: /\+852 ordinary 8/ }).waitFor();
    await page.getByLabel('Mobile number').fill('+85261234567');
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('A part costs 8, by the prefix +852.').waitFor();
    await page.getByText('It goes by carrier → loopback, by the prefix +852.').waitFor();
    await page.getByRole('button', { name: 'Delete the price of +852' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete price' }).click();
    await page.getByRole('row', { name: /\+852/ }).waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Routes' }).click();
    await page.getByRole('button', { name: 'Delete the route of +852' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete route' }).click();
    await page.getByRole('row', { name: /\+852/ }).waitFor({ state: 'hidden' });
  });

  await t.test('numbers are kept from all advertising, and let in again', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/connectors?view=optOuts');
    await page.getByRole('button', { name: 'Add numbers' }).click();
    const form = page.getByRole('dialog', { name: 'Add numbers' });
    await form.getByLabel('Mobile numbers').fill('13800138000');
    await form.getByRole('button', { name: 'Add numbers' }).click();
    await page.getByRole('button', { name: 'Remove number: +8613800138000' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove number' }).click();
    await page.getByText('No number has opted out of everything').waitFor();
    await page.getByRole('link', { name: 'Unread deliveries' }).click();
    await page.getByText('Everything could be read').waitFor();
  });

  await t.test('a connector that a route uses is not deleted, and says which', async (t) => {
    await operator.call('smsOperator.setRoute', { prefix: '+853', connectors: 'carrier' });
    const page = await openSignedIn(t, console, '/console/operator/connectors');
    await page.getByRole('button', { name: 'Actions: carrier' }).click();
    await page.getByRole('menuitem', { name: 'Delete connector' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete carrier?' });
    await dialog.getByLabel('Type its name').fill('carrier');
    await dialog.getByRole('button', { name: 'Delete connector' }).click();
    await dialog.getByRole('alert').getByText(/\+853/).waitFor();
  });
});
