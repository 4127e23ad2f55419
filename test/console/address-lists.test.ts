/** Address lists in the console, in a real browser: pasted, corrected, used by a domain, changed by two people, deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, clientOf, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const DOMAIN = 'www.example.com';

test('address lists are kept and used', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const client = clientOf(console);
  const domain_id = await addDomain(console, DOMAIN);
  const addressesOf = async (name: string) => (await client.call('addressList.get', { name })).addresses;

  await t.test('a long list is pasted, and says by its line what cannot be read', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains');
    await page.getByRole('navigation', { name: 'Main menu' }).getByRole('link', { name: 'Address lists' }).click();
    await page.getByText('There is no address list yet').waitFor();
    await page.getByRole('link', { name: 'Add list' }).click();
    const save = page.getByRole('button', { name: 'Save list' });
    const text = page.getByLabel('Addresses and networks');
    await text.fill('192.0.2.1 # office\n2001:db8::/32, 10.0.0.256\n192.0.2.1');
    await page.getByText('line 2').waitFor();
    await page.getByText('neither an address nor a network').waitFor();
    await page.getByText('3 of 5,000').waitFor();
    assert.equal(await save.isDisabled(), true);
    // On one line: Chromium is slow to put in so many.
    const many = Array.from({ length: 5001 }, (_, n) => `10.0.${n >> 8}.${n & 255}`).join(',');
    await text.fill(many);
    await page.getByText('5,001 addresses, of at most 5,000.').waitFor();
    assert.equal(await save.isDisabled(), true);
    await text.fill(many.slice(0, many.lastIndexOf(',')));
    await page.getByText('5,000 of 5,000').waitFor();
    await page.getByLabel('Name').fill('The Office');
    await save.click();
    await page.getByText(/^Expected 1 to 64 lower-case letters/).waitFor();
    await page.getByLabel('Name').fill('office');
    assert.deepEqual(await findViolations(page), []);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findViolations(page), []);
    await save.click();
    await page.getByText('office has been saved').waitFor();
    await page.getByRole('row', { name: /office 5,000/ }).waitFor();
    assert.equal((await addressesOf('office')).length, 5000);
  });

  await t.test('a new list does not replace one of the same name', async (t) => {
    const page = await openSignedIn(t, console, '/console/address-lists/edit');
    await page.getByLabel('Name').fill('office');
    await page.getByText('There is a list of this name already.').waitFor();
    await page.getByRole('button', { name: 'Save list' }).click();
    await page.getByRole('heading', { level: 1, name: 'Add list' }).waitFor();
    assert.equal((await addressesOf('office')).length, 5000, 'nothing was sent');
  });

  await t.test('a domain denies a list that is chosen among those of the account', async (t) => {
    const page = await openSignedIn(t, console, `/console/domains/${domain_id}/access`);
    const denied = page.getByRole('group', { name: 'Denied lists' });
    await denied.getByRole('checkbox', { name: 'office (5,000)' }).check();
    await page.getByText('1 change', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await eventually('the domain denies it', async () => {
      const { deny } = await client.call('config.getAddressLists', { domain_id });
      return deny.join() === 'office';
    });
    await page.getByRole('main').getByRole('link', { name: 'Address lists' }).click();
    await page.getByRole('row', { name: /office.*www\.example\.com/ }).waitFor();
  });

  await t.test('what somebody else changes meanwhile is not overwritten unseen', async (t) => {
    const page = await openSignedIn(t, console, '/console/address-lists/edit?name=office');
    const text = page.getByLabel('Addresses and networks');
    await page.getByText('Live', { exact: true }).waitFor();
    await text.fill('');
    await page.getByText('A domain that allows this list alone then refuses everybody.').waitFor();
    const { changed_time } = await client.call('addressList.get', { name: 'office' });
    // Its time has seconds.
    await eventually('the list was changed later', async () => {
      await client.call('addressList.set', { name: 'office', addresses: [`198.51.100.${Date.now() % 200}`] });
      return (await client.call('addressList.get', { name: 'office' })).changed_time !== changed_time;
    });
    await page.getByText('Somebody else has changed the list since you began.').waitFor();
    assert.equal(await text.inputValue(), '', 'what was typed is kept');
    await page.getByRole('button', { name: 'Discard mine and show what is stored' }).click();
    await page.getByText('1 of 5,000').waitFor();
    assert.match(await text.inputValue(), /^198\.51\.100\.\d+$/);
  });

  await t.test('a list is deleted when no domain uses it', async (t) => {
    const page = await openSignedIn(t, console, '/console/address-lists');
    await page.getByRole('link', { name: 'office' }).click();
    await page.getByText('A list can be deleted when no domain uses it.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Delete list' }).isDisabled(), true);
    await client.call('config.setAddressLists', { domain_id, deny: [] });
    // Hints bring it here.
    await page.getByText('No domain uses it.').waitFor();
    await page.getByRole('button', { name: 'Delete list' }).click();
    await page.getByRole('dialog', { name: 'Delete office?' }).getByRole('button', { name: 'Delete list' }).click();
    await page.getByText('There is no address list yet').waitFor();
    assert.deepEqual((await client.call('addressList.list', {})).list, []);
  });

  await t.test('a reader sees the list, in Chinese and on a phone, and no buttons', async (t) => {
    await client.call('addressList.set', { name: 'office', addresses: ['192.0.2.1'] });
    const { access_token } = await client.call('token.create', { scopes: ['cdn'], access: ['read'] });
    const viewport = { width: 390, height: 844 };
    const page = await console.open('/console/address-lists', { locale: 'zh-CN', viewport });
    t.after(async () => await page.context().close());
    await signIn(page, access_token, 'zh-CN');
    await page.getByRole('link', { name: 'office' }).click();
    await page.getByText('没有域名使用。').waitFor();
    assert.equal(await page.getByLabel('IP 与网段').getAttribute('readonly'), '');
    assert.equal(await page.getByRole('button', { name: '保存列表' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: '删除列表' }).count(), 0);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
  });
});
