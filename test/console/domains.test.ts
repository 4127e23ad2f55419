/** Domains in the console: listing, adding, changing with undo, two people at once, revisions; in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, clientOf, openSignedIn } from '../support/console/signed-in.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

async function reviewAndApply(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
}

test('domains are listed, added and changed', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const client = clientOf(console);
  const advancedOf = async (domain_id: string) =>
    (await client.call('domain.settings', { domain_id })).settings.advanced;

  await t.test('a new account begins with adding its first domain', async (t) => {
    const page = await openSignedIn(t, console);
    await page.getByRole('link', { name: 'Add a domain' }).click();
    await page.getByRole('heading', { level: 1, name: 'Add domain' }).waitFor();
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText(/Expected a domain name such as www\.example\.com/).waitFor();
    await page.getByLabel('Names').fill('one.example.com');
    await page.getByLabel('Origins').fill('192.0.2.1:8080');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('one.example.com.cdn.localhost', { exact: true }).waitFor();
    await page.getByText('In force on the edges').waitFor();
    await page.getByRole('link', { name: 'Go to the domain' }).click();
    await page.getByRole('heading', { level: 1, name: 'one.example.com' }).waitFor();
  });

  await t.test('many are added at once', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains/add');
    await page.getByLabel('Names').fill('two.example.com\nthree.example.com, one.example.com');
    await page.getByLabel('Origins').fill('192.0.2.1');
    await page.getByRole('button', { name: 'Add 3 domains' }).click();
    await page.getByText('2 of 3 added, 1 refused').waitFor();
    await page.getByRole('link', { name: 'Go to the domains' }).click();
    await page.getByText('3 domains').waitFor();
  });

  await t.test('the list is filtered by the service, and the filter is in the address', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains');
    await page.getByRole('searchbox').fill('two.');
    await page.getByText('1 domain', { exact: true }).waitFor();
    assert.equal(new URL(page.url()).search, '?name=two.');
    await page.reload();
    await page.getByRole('link', { name: 'two.example.com' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'one.example.com' }).count(), 0);
    await page.getByRole('searchbox').fill('nobody');
    await page.getByRole('link', { name: 'Clear the filter' }).click();
    await page.getByRole('link', { name: 'one.example.com' }).waitFor();
  });

  await t.test('a change is reviewed, applied, followed to the edges, and undone', async (t) => {
    const id = await addDomain(console, 'change.example.com');
    const page = await openSignedIn(t, console, `/console/domains/${id}/advanced`);
    await page.getByRole('switch', { name: 'Compress texts' }).click();
    await page.getByLabel('Browsers keep responses for').fill('3600');
    await page.getByText('2 changes').waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog', { name: 'What will change' });
    await dialog.getByText('Compress texts').waitFor();
    const after = await dialog.locator('ins').allInnerTexts();
    assert.deepEqual(
      after.map((text) => text.replace(/^after:\s*/, '')),
      ['on', '1 hour (3600 s)'],
    );
    assert.equal((await advancedOf(id)).page_compress, '0', 'nothing was sent yet');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText(/change\.example\.com: In force on the edge after/).waitFor();
    assert.deepEqual([(await advancedOf(id)).page_compress, (await advancedOf(id)).expires], ['1', '3600']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually('the change was undone', async () => (await advancedOf(id)).page_compress === '0');
    await page.getByRole('switch', { name: 'Compress texts', checked: false }).waitFor();
    assert.equal((await advancedOf(id)).expires, '0');
  });

  await t.test('what the contract refuses is said beside the field, before anything is sent', async (t) => {
    const id = await addDomain(console, 'invalid.example.com');
    const page = await openSignedIn(t, console, `/console/domains/${id}/advanced`);
    await page.getByLabel('Browsers keep responses for').fill('soon');
    await page.getByText('Expected a whole number of seconds').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Review changes' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Discard' }).click();
    assert.equal(await page.getByLabel('Browsers keep responses for').inputValue(), '0');
  });

  await t.test('two people who change one setting see three values, and nobody overwrites unseen', async (t) => {
    const id = await addDomain(console, 'conflict.example.com');
    const path = `/console/domains/${id}/advanced`;
    const [first, second] = [await openSignedIn(t, console, path), await openSignedIn(t, console, path)];
    await second.getByLabel('Browsers keep responses for').fill('7200');
    await second.getByRole('switch', { name: 'Compress texts' }).click();
    await first.getByLabel('Browsers keep responses for').fill('60');
    await reviewAndApply(first);
    await eventually('the first change is stored', async () => (await advancedOf(id)).expires === '60');
    await second.getByRole('button', { name: 'Review changes' }).click();
    const dialog = second.getByRole('dialog', { name: 'Somebody else has changed the same settings' });
    const values = dialog.getByRole('group', { name: 'Browsers keep responses for' }).locator('code');
    await values.first().waitFor();
    assert.deepEqual(await values.allInnerTexts(), ['0 s', '2 hours (7200 s)', '1 minute (60 s)']);
    await dialog.getByRole('radio', { name: /Yours/ }).check();
    await dialog.getByRole('button', { name: 'Go on with these' }).click();
    await second.getByRole('dialog', { name: 'What will change' }).getByRole('button', { name: 'Apply' }).click();
    await eventually('both changes are stored', async () => {
      const { expires, page_compress } = await advancedOf(id);
      return expires === '7200' && page_compress === '1';
    });
    await first.getByText('7200').or(first.locator('input[value="7200"]')).first().waitFor();
  });

  await t.test('an earlier revision is compared with now, and brought back', async (t) => {
    const id = await addDomain(console, 'revisions.example.com');
    await client.call('domain.change', { domain_id: id, set: { advanced: { expires: 60 } } });
    const page = await openSignedIn(t, console, `/console/domains/${id}/revisions`);
    await page.getByRole('button', { name: 'Compare with now' }).click();
    await page.getByText('Browsers keep responses for').waitFor();
    await page.getByRole('button', { name: 'Set back to this' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Set back to this' }).click();
    await eventually('it was brought back', async () => (await advancedOf(id)).expires === '0');
  });

  await t.test('a URL is explained stage by stage', async (t) => {
    const id = await addDomain(console, 'explain.example.com');
    const page = await openSignedIn(t, console, `/console/domains/${id}/explain`);
    await page.getByLabel('URL').fill('http://explain.example.com/a.jpg');
    await eventually('an edge knows the domain', async () => {
      await page.getByRole('button', { name: 'Explain' }).click();
      return await page.getByText('GET http://explain.example.com/a.jpg').isVisible();
    });
    await page.getByText(/Answered by the edge/).waitFor();
  });

  await t.test('a remark is changed, and one that is too long is refused with its reason', async (t) => {
    const id = await addDomain(console, 'remark.example.com');
    const page = await openSignedIn(t, console, `/console/domains/${id}`);
    await page.getByRole('button', { name: 'Change remark' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change remark' });
    await dialog.getByLabel('Remark').fill('x'.repeat(256));
    await dialog.getByRole('button', { name: 'Save remark' }).click();
    await dialog.getByText(/text of 0 to 255 characters/).waitFor();
    await dialog.getByLabel('Remark').fill('官网 · main site');
    await dialog.getByRole('button', { name: 'Save remark' }).click();
    await page.getByText('官网 · main site', { exact: true }).waitFor();
    assert.equal((await client.call('domain.get', { domain_id: id })).remark, '官网 · main site');
  });

  await t.test('a deleted domain is gone once its name was typed', async (t) => {
    const id = await addDomain(console, 'delete.example.com');
    const page = await openSignedIn(t, console, `/console/domains/${id}`);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete the domain' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete delete.example.com?' });
    assert.equal(await dialog.getByRole('button', { name: 'Delete the domain' }).isDisabled(), true);
    await dialog.getByLabel('Name').fill('delete.example.com');
    await dialog.getByRole('button', { name: 'Delete the domain' }).click();
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
    await page.goto(`/console/domains/${id}`);
    await page.getByText('There is nothing here').waitFor();
  });
});
