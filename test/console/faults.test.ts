/** Failures inside the console: files that are not loaded, and components that throw. What is around them stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, openSignedIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

/** What the browser and React say of such failures. */
const EXPECTED = [/Failed to load resource/, /NotLoaded/, /TypeError/];

test('a failure inside the console leaves what is around it', needs('chromium'), async (t) => {
  const console = await startConsole(t, { expected: EXPECTED });
  await addDomain(console, 'www.example.com');

  await t.test('a page whose file a new build has replaced says so, and is there when it is tried again', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains');
    // The service answers as it does for a file of a former build.
    await page.route('**/assets/purge-*.js', (route) =>
      route.continue({ url: route.request().url().replace('/purge-', '/gone-') }),
    );
    await page.getByRole('link', { name: 'Purge and prefetch' }).click();
    await page.getByRole('heading', { level: 1, name: 'This page cannot be shown' }).waitFor();
    await page.getByRole('alert').getByText('A part of the console was not loaded').waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.getByRole('link', { name: 'Domains', exact: true }).click();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    await page.getByRole('link', { name: 'Purge and prefetch' }).click();
    await page.getByRole('alert').waitFor();
    await page.unroute('**/assets/purge-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Purge and prefetch' }).waitFor();
  });

  await t.test('a page without a connection stays until there is one', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains');
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Statistics' }).click();
    await page.getByText('A part of the console was not loaded').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('What you have typed is kept.').waitFor();
    await page.getByRole('navigation', { name: 'Main menu' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Statistics' }).waitFor();
  });

  await t.test('something that floats and was not loaded leaves the page as it is', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains', { locale: 'zh-CN' });
    await page.route('**/assets/palette-*.js', (route) => route.abort());
    await page.getByRole('button', { name: /搜索或跳转/ }).click();
    await page.getByRole('alert').getByText('控制台的一部分未能加载').waitFor();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    await page.unroute('**/assets/palette-*.js');
    await page.getByRole('button', { name: '重试' }).click();
    await page.getByRole('alert').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: /搜索或跳转/ }).click();
    await page.getByRole('dialog', { name: '搜索或跳转' }).waitFor();
  });

  await t.test('a page that throws shows what to report, and reads anew when it is tried again', async (t) => {
    const page = await openSignedIn(t, console, '/console/');
    const asked = await fetch(`${console.service.controlUrl}/domain/listBrief`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ access_token: console.service.token }),
    });
    const answer = Object(await asked.json());
    const json = { ...answer, data: { ...answer.data, list: [null] } };
    await page.route('**/domain/listBrief', async (route) => await route.fulfill({ json }));
    await page.getByRole('link', { name: 'Domains', exact: true }).click();
    const fault = page.getByRole('alert').filter({ hasText: 'The console has failed here' });
    const report = (await fault.locator('code').textContent()) ?? '';
    assert.match(report, /^TypeError: .+\n\/console\/domains 20\d\d-\S+Z\nMozilla\/.+\nat /);
    assert.deepEqual(await findViolations(page), []);
    await page.unroute('**/domain/listBrief');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
  });
});
