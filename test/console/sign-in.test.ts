/** Signing in with an access token, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

test('people sign in, stay signed in, and sign out', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const id = await addDomain(console, 'www.example.com');

  await t.test('a wrong token is refused with the words of the service', async () => {
    const page = await console.open('/console/');
    await page.getByLabel('Access token').fill('wrong');
    await page.getByLabel('Access token').press('Enter');
    await page.getByRole('alert').getByText('access_token is invalid').waitFor();
    assert.equal(await page.title(), 'Sign in · Causeway');
  });

  await t.test('people are where the address says after they sign in, and after a reload', async () => {
    const page = await console.open(`/console/domains/${id}/cache`);
    await signIn(page, console.service.token);
    await page.getByRole('heading', { name: 'Cache policies' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'www.example.com' }).waitFor();
    assert.equal(await page.title(), 'www.example.com · Causeway');
    const cookies = await page.context().cookies();
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
      [['__Host-causeway', true, 'Strict']],
    );
    assert.equal(await page.evaluate('document.cookie'), '');
  });

  await t.test('people who have signed out see nothing more, in every tab', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains');
    const other = await console.openBeside(page, '/console/domains');
    await other.getByRole('link', { name: 'www.example.com' }).waitFor();
    await page.bringToFront();
    await page.getByRole('banner').getByRole('button').last().click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
