/** Signing in, in a real browser: by an access token, a password, a second factor and a passkey. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { codeAt, fromBase32, PASSWORD } from '../support/api/people.ts';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { addPasskeyDevice, makePerson, signInAsPerson, signOut, typePassword } from '../support/console/people.ts';
import { addDomain, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

const CODE_STEP_MS = 30_000;

test('people sign in with a token, stay signed in, and sign out', needs('chromium'), async (t) => {
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
    await signOut(page);
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

test('people sign in with what they have', needs('chromium'), async (t) => {
  const console = await startConsole(t, { expected: [/status of 429/] });
  const [passwordOnly, withCodes, withPasskey, guessed] = ['pw', 'totp', 'passkey', 'guessed'].map(
    (name) => `${name}@example.com`,
  ) as [string, string, string, string];
  for (const email of [passwordOnly, withCodes, withPasskey, guessed]) await makePerson(console, email, 'owner');

  await t.test('a password, after a wrong one, leads to the page that was wanted', async () => {
    const page = await console.open('/console/domains');
    await typePassword(page, passwordOnly, 'not the password');
    await page.getByRole('alert').getByText('sign-in failed').waitFor();
    await typePassword(page, passwordOnly);
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
    await page.getByText('There was a failed attempt').waitFor();
  });

  for (const [locale, colorScheme, words] of [
    ['en', 'light', 'or with a password'],
    ['zh-CN', 'dark', '或使用密码'],
  ] as const)
    await t.test(`the page of the sign-in has no fault that axe finds, and fits a phone: ${locale}`, async () => {
      const page = await console.open('/console/', { locale, colorScheme, viewport: { width: 390, height: 844 } });
      await page.getByText(words).waitFor();
      assert.deepEqual(await findViolations(page), []);
      assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390);
    });

  await t.test(
    'an authenticator app is set up, asked for after the password, and replaced by a recovery code',
    async () => {
      const page = await console.open('/console/security');
      await signInAsPerson(page, withCodes);
      await page.getByRole('button', { name: 'Set up authenticator app' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('img', { name: 'QR code with the key' }).waitFor();
      const key = fromBase32((await dialog.locator('code').textContent()) ?? '');
      await dialog.getByLabel('Code of the app').fill('000000');
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByRole('alert').getByText('field code is invalid').waitFor();
      const now = Date.now();
      await dialog.getByLabel('Code of the app').fill(codeAt(key, now));
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByText('Keep these recovery codes').waitFor();
      const codes = await dialog.getByRole('listitem').allTextContents();
      assert.equal(codes.length, 10);
      await page.keyboard.press('Escape');
      await dialog.getByRole('button', { name: 'I have kept them' }).click();
      await page.getByText('10 codes are left.').waitFor();

      await signOut(page);
      await typePassword(page, withCodes);
      await page.getByRole('heading', { level: 1, name: 'Second factor' }).waitFor();
      await page.reload();
      const code = page.getByLabel('Code of the authenticator app');
      await code.fill(codeAt(key, now));
      await code.press('Enter');
      await page.getByRole('alert').getByText('sign-in failed').waitFor(); // a code works once
      await code.fill(codeAt(key, now + CODE_STEP_MS));
      await code.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();

      await signOut(page);
      await typePassword(page, withCodes);
      await page.getByRole('button', { name: 'Use a recovery code' }).click();
      await page.getByLabel('Recovery code').fill(codes[0] ?? '');
      await page.getByLabel('Recovery code').press('Enter');
      await page.getByText('9 codes are left.').waitFor();
    },
  );

  await t.test('a sign-in that waits for its second factor can be given up', async () => {
    const page = await console.open('/console/');
    await typePassword(page, withCodes);
    await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
    await signInAsPerson(page, passwordOnly);
  });

  await t.test('a passkey is added with a name, signs in without a password, and is removed', async () => {
    const page = await console.open('/console/security');
    await addPasskeyDevice(page);
    await signInAsPerson(page, withPasskey);
    await page.getByLabel('Name').fill('laptop');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const row = page.getByRole('row').filter({ hasText: 'laptop' });
    await row.waitFor();
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('alert').getByText('This device has a passkey for you already').waitFor();
    await signOut(page);
    await page.getByLabel('Keep me signed in').check();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await row.waitFor();
    assert.ok((await lifetimeDays(page)) > 29, 'the session is kept');
    await page.getByRole('button', { name: 'Remove passkey: laptop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('You have no passkey yet').waitFor();
  });

  await t.test('an IP address has no passkeys, and the page says where they work', async () => {
    const page = await console.open(`${console.service.controlUrl}/console/`);
    await page.getByRole('link', { name: console.url }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0);
    const { origin } = new URL(page.url());
    const problems = console.takeProblems(); // this origin is another one than that of the other tests
    assert.deepEqual(
      problems.filter((problem) => !problem.startsWith(`asks ${origin}/`)),
      [],
    );
  });

  await t.test('wrong passwords are held up, with the time to wait, and the passkey is not', async () => {
    const page = await console.open('/console/');
    for (let n = 0; n < 5; n += 1) {
      const answer = page.waitForResponse(/session\/begin/);
      await typePassword(page, guessed, `wrong ${n}`);
      await answer;
      await page.getByRole('alert').getByText('sign-in failed').waitFor();
    }
    await typePassword(page, guessed);
    await page.getByRole('alert').getByText('too many failed sign-ins; try again in 60 s').waitFor();
    const challenge = page.waitForResponse(/session\/passkeyChallenge/);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    assert.equal((await challenge).status(), 200);
  });

  await t.test('a new password ends the other sessions, and each session can be ended', async () => {
    const page = await console.open('/console/security');
    await signInAsPerson(page, passwordOnly);
    const other = await console.open('/console/domains');
    await signInAsPerson(other, passwordOnly);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('button', { name: 'End session' }).first().waitFor({ state: 'hidden' });
    await page.getByText('this one').waitFor();
    await other.reload();
    await signInAsPerson(other, passwordOnly);
    await page.getByRole('link', { name: 'Ways to sign in' }).click();
    await page.getByRole('button', { name: 'Change password' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('New password').fill('password1234');
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await dialog.getByText('field password is invalid').waitFor();
    await dialog.getByLabel('New password').fill(`${PASSWORD}, and one more`);
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('your other sessions have ended').waitFor();
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

async function lifetimeDays(page: Page): Promise<number> {
  const [cookie] = await page.context().cookies();
  return ((cookie?.expires ?? 0) - Date.now() / 1000) / 86_400;
}
