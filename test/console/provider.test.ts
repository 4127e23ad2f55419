/** Signing in by an identity provider, which is a real one, in a real browser. docs/decisions/0666 */
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { CLIENT, startIdentityProvider } from '../support/api/identity-provider.ts';
import { startConsole } from '../support/console/browser.ts';
import { makePerson, signInAsPerson, signOut, typePassword } from '../support/console/people.ts';
import { clientOf } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

test('people sign in by an identity provider', needs('chromium'), async (t) => {
  const { issuer } = await startIdentityProvider(t);
  const console = await startConsole(t, {
    settings: {
      CAUSEWAY_OIDC_ISSUER: issuer,
      CAUSEWAY_OIDC_CLIENT_ID: CLIENT.clientId,
      CAUSEWAY_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    },
    // Pages of the provider, which has a style and an icon of its own.
    expected: [/^asks http/, /favicon/],
  });
  const host = new URL(issuer).host;
  const member = { email: 'han@example.com', account_id: '1', role: 'editor' } as const;
  await clientOf(console).call('operator.createPerson', member);
  await makePerson(console, 'li@example.com', 'owner');

  await t.test('somebody whom it knows is where the address says afterwards', async () => {
    const page = await console.open('/console/domains');
    await goThere(page, `Sign in with ${host}`, 'verified:han@example.com');
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
    await page.waitForURL(/\/console\/domains$/);
  });

  await t.test('somebody with a password is not taken over, and links it first', async () => {
    const page = await console.open('/console/security');
    await goThere(page, `Sign in with ${host}`, 'verified:li@example.com');
    await page.getByRole('alert').getByText('has not linked the identity provider').waitFor();
    await signInAsPerson(page, 'li@example.com');
    await goThere(page, 'Link', 'verified:li@example.com');
    await page.getByRole('button', { name: 'Unlink' }).waitFor();
    await signOut(page);
    await goThere(page, `Sign in with ${host}`, 'verified:li@example.com');
    await page.getByRole('button', { name: 'Unlink' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('It is not linked.').waitFor();
  });

  await t.test('an answer that this tab has not asked for signs nobody in', async () => {
    const page = await console.open('/console/provider?code=abc&state=def');
    await page.getByText('This sign-in was not begun in this tab').waitFor();
    await typePassword(page, 'li@example.com');
    await page.getByRole('banner').waitFor();
  });
});

/** Presses a button that leads to the provider, and answers what that asks: the name, and whether the console may know. */
async function goThere(page: Page, button: string, login: string): Promise<void> {
  await page.route(/googleapis/, (route) => route.fulfill({ body: '' })); // a font of its pages
  let isBack = false;
  const back = page.waitForRequest(/\/console\/provider\?/).then(() => {
    isBack = true;
  });
  await page.getByRole('button', { name: button, exact: true }).click();
  const form = page.locator('form[action*="/interaction/"]');
  while (!isBack) {
    await Promise.race([form.waitFor(), back]);
    if (isBack) break;
    const name = form.locator('input[name=login]');
    if (await name.isVisible()) {
      await name.fill(login);
      await form.locator('input[name=password]').fill('any');
    }
    const { href } = new URL(page.url());
    await form.locator('button[type=submit]').click();
    await Promise.race([page.waitForURL((next) => next.href !== href, { waitUntil: 'commit' }), back]);
  }
}
