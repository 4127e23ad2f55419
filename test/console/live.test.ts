/** Changes made elsewhere are seen in every tab, and losing the service is said. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, clientOf, openSignedIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

test('changes that others make are seen', needs('chromium'), async (t) => {
  const console = await startConsole(t, { expected: [/Failed to load resource/] });
  const client = clientOf(console);

  await t.test('a change is seen in all tabs, of which one holds the stream', async (t) => {
    const id = await addDomain(console, 'live.example.com');
    const page = await openSignedIn(t, console, `/console/domains/${id}/advanced`);
    const other = await console.openBeside(page, `/console/domains/${id}/advanced`);
    for (const tab of [page, other]) {
      await tab.getByText('Live', { exact: true }).waitFor();
      await tab.getByRole('switch', { name: 'Compress texts', checked: false }).waitFor();
    }
    await client.call('domain.change', { domain_id: id, set: { advanced: { page_compress: 1 } } });
    for (const tab of [page, other]) {
      await tab.bringToFront();
      await tab.getByRole('switch', { name: 'Compress texts', checked: true }).waitFor();
    }
    const held = await page.evaluate(async () => (await navigator.locks.query()).held?.length);
    assert.equal(held, 1);
    // The tab that holds the stream is closed: the other goes on.
    await page.close();
    await client.call('domain.change', { domain_id: id, set: { advanced: { page_compress: 0 } } });
    await other.getByRole('switch', { name: 'Compress texts', checked: false }).waitFor();
  });

  await t.test('an offline page says so, keeps what was typed, and goes on by itself', async (t) => {
    const id = await addDomain(console, 'offline.example.com');
    const page = await openSignedIn(t, console, `/console/domains/${id}/advanced`);
    await page.getByLabel('Browsers keep responses for').fill('60');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('What you have typed is kept.').waitFor();
    assert.equal(await page.getByLabel('Browsers keep responses for').inputValue(), '60');
    await page.context().setOffline(false);
    await page.getByText('What you have typed is kept.').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog', { name: 'What will change' }).waitFor();
  });
});
