/** People, roles, invitations and tokens, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createClient } from '#client/client.ts';
import { PASSWORD } from '../support/api/people.ts';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import {
  addPasskeyDevice,
  forgetProofs,
  makeAccount,
  makePerson,
  signInAsPerson,
  typePassword,
} from '../support/console/people.ts';
import { addDomain, openSignedIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

test(
  'an invitation leads from the token of the first start to people who need it no more',
  needs('chromium'),
  async (t) => {
    const console = await startConsole(t);
    await addDomain(console, 'www.example.com');
    const first = await openSignedIn(t, console, '/console/members');
    const link = await invite(first, 'owner@example.com', 'Owner');

    await t.test('somebody who is invited joins with a passkey, and signs in with it', async () => {
      const page = await console.open('/console/');
      await page.getByLabel('Access token').waitFor();
      await addPasskeyDevice(page);
      const secret = new URL(link).hash.slice(1);
      const sent: string[] = [];
      page.on('request', (request) => sent.push(`${request.url()} ${JSON.stringify(request.headers())}`));
      await page.goto(link);
      await page.getByText('owner@example.com is invited to the account').waitFor();
      assert.deepEqual(await findViolations(page), []);
      await page.getByLabel('Your name').fill('Li Lei');
      await page.getByRole('button', { name: 'Join with a passkey' }).click();
      await page.getByRole('banner').waitFor();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      assert.ok(!page.url().includes(secret));
      assert.deepEqual(
        sent.filter((request) => request.includes(secret)),
        [],
        'the secret is in no address and no header',
      );
      await page.goto(link);
      await page.getByText('the link is not valid').waitFor();
      await page.goto('/console/members');
      await page.getByRole('row').filter({ hasText: 'Li Lei' }).getByText('yes').waitFor();
    });

    await t.test('somebody who is invited joins with a password, and an editor has no members', async () => {
      const page = await console.open(await invite(first, 'han@example.com', 'Editor'), { locale: 'zh-CN' });
      await page.getByLabel('姓名').fill('韩梅梅');
      await page.getByLabel('新密码').fill('123');
      await page.getByRole('button', { name: '加入', exact: true }).click();
      await page.getByText('字段 password 无效').waitFor();
      await page.getByLabel('新密码').fill(PASSWORD);
      await page.getByRole('button', { name: '加入', exact: true }).click();
      await page.getByRole('link', { name: '域名', exact: true }).first().waitFor();
      assert.equal(await page.getByRole('link', { name: '成员' }).count(), 0);
    });

    await t.test('somebody who has an account signs in to accept, and then has two', async () => {
      const account = await makeAccount(console, 'customer');
      await makePerson(console, 'two@example.com', 'viewer', account);
      const page = await console.open(await invite(first, 'two@example.com', 'Viewer'));
      await page.getByText('Sign in as two@example.com to accept').waitFor();
      await typePassword(page, 'han@example.com');
      await page.getByText('You are signed in as han@example.com').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await typePassword(page, 'two@example.com');
      await page.getByRole('button', { name: 'Accept invitation' }).click();
      await page.getByTitle('Switch account').click();
      await page.getByRole('menuitem').filter({ hasNotText: 'the customer' }).click();
      await page.getByTitle('Switch account').filter({ hasNotText: 'the customer' }).waitFor(); // it is loaded anew
      await page.getByRole('link', { name: 'Domains' }).first().click();
      await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    });

    await t.test('an invitation is withdrawn, a role changed, a member removed, a password reset', async () => {
      await first.reload();
      const row = (email: string) => first.getByRole('row').filter({ hasText: email });
      const choose = async (email: string, act: string) => {
        await row(email).getByRole('button').click();
        await first.getByRole('menuitem', { name: act }).click();
      };
      const withdrawn = await invite(first, 'nobody@example.com', 'Viewer');
      await first.getByRole('button', { name: 'Withdraw invitation: nobody@example.com' }).click();
      await first.getByRole('dialog').getByRole('button', { name: 'Withdraw invitation' }).click();
      await row('nobody@example.com').waitFor({ state: 'detached' });
      const page = await console.open(withdrawn);
      await page.getByText('the link is not valid').waitFor();

      await choose('han@example.com', 'Change role');
      await first.getByRole('dialog').getByLabel('Role').selectOption('Billing');
      await first.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
      await row('han@example.com').getByText('Billing').waitFor();
      await choose('han@example.com', 'Make link for a new password');
      await first.getByRole('dialog').getByRole('button', { name: 'Make link' }).click();
      const reset = await shownOnce(first, 'Done');
      await page.goto(reset);
      await page.reload(); // only what stands behind # is another one
      await page.getByLabel('New password').fill('another lake of 9 birds');
      await page.getByRole('button', { name: 'Set password' }).click();
      await typePassword(page, 'han@example.com', 'another lake of 9 birds');
      await page.getByRole('banner').waitFor();

      await choose('han@example.com', 'Remove from the account');
      await first.getByRole('dialog').getByRole('button', { name: 'Remove from the account' }).click();
      await row('han@example.com').waitFor({ state: 'detached' });
    });
  },
);

test('people see and do what their roles allow', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const id = await addDomain(console, 'www.example.com');
  const operators = await makeAccount(console, 'operator');
  await makePerson(console, 'viewer@example.com', 'viewer');
  await makePerson(console, 'owner@example.com', 'owner');
  await makePerson(console, 'admin@example.com', 'admin', operators);

  await t.test('a viewer has no buttons to change anything, and reads which role would', async () => {
    const page = await console.open('/console/domains');
    await signInAsPerson(page, 'viewer@example.com');
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Add domain' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Members' }).count(), 0);
    for (const path of ['/console/members', '/console/tokens']) {
      await page.goto(path);
      await page.getByText('it takes the access manage, which the roles owner have').waitFor();
      assert.equal(
        await page
          .getByRole('main')
          .getByRole('button', { name: /Invite|Create/ })
          .count(),
        0,
      );
    }
    await page.goto(`/console/domains/${id}`);
    await page.getByText('At a glance').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Actions' }).count(), 0);
  });

  await t.test('what decides over the rest asks for a proof first, and then goes on', async () => {
    const page = await console.open('/console/tokens');
    await signInAsPerson(page, 'owner@example.com');
    forgetProofs(console);
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create token' });
    await dialog.getByLabel('Label').fill('deployment');
    await dialog.getByLabel('Domains').fill('www.example.com');
    await dialog.getByLabel('Domains').press('Enter');
    await dialog.getByLabel('change').check();
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const proof = page.getByRole('dialog', { name: 'Is it still you?' });
    await proof.waitFor();
    assert.deepEqual(await findViolations(page), []);
    const refusal = dialog.getByText('needs a proof within the last 15 minutes');
    await proof.getByRole('button', { name: 'Cancel' }).click();
    await refusal.waitFor();
    for (const focus of ['inside', 'nowhere']) {
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await proof.getByLabel('Password').focus();
      if (focus === 'nowhere') await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press('Escape');
      await proof.waitFor({ state: 'hidden' });
      await refusal.waitFor();
    }
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await proof.getByLabel('Password').fill('wrong');
    await proof.getByRole('button', { name: 'Confirm' }).click();
    await proof.getByText('sign-in failed').waitFor();
    await proof.getByLabel('Password').fill(PASSWORD);
    await proof.getByRole('button', { name: 'Confirm' }).click();
    const accessToken = await shownOnce(page, 'I have kept it');
    const client = createClient({ baseUrl: console.service.controlUrl, accessToken, locale: 'en' });
    assert.equal((await client.call('domain.list', {})).total, 1);

    await page.getByRole('row').filter({ hasText: 'deployment' }).getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row').filter({ hasText: 'revoked' }).waitFor();
    await assert.rejects(client.call('domain.list', {}), /revoked/);
  });

  await t.test('a session of a token proves itself by the token', async (t) => {
    const page = await openSignedIn(t, console, '/console/members');
    forgetProofs(console);
    await page.getByRole('button', { name: 'Invite member' }).click();
    await page.getByRole('dialog').getByLabel('E-mail address').fill('later@example.com');
    await page.getByRole('button', { name: 'Make link' }).click();
    const proof = page.getByRole('dialog', { name: 'Is it still you?' });
    await proof.getByLabel('Access token').fill(console.service.token);
    await proof.getByRole('button', { name: 'Sign in with the token' }).click();
    assert.match(await shownOnce(page, 'Done'), /\/console\/welcome#cwy_/);
  });

  await t.test('preferences follow a person to another browser', async () => {
    const page = await console.open('/console/domains');
    await signInAsPerson(page, 'owner@example.com');
    await page.getByRole('button', { name: 'Language, theme and times' }).click();
    const saved = page.waitForResponse(/person\/set/);
    await page.getByRole('menuitem', { name: '简体中文' }).click();
    await saved;
    await page.locator('html[lang=zh-CN]').waitFor();
    const other = await console.open('/console/domains');
    await typePassword(other, 'owner@example.com');
    await other.getByRole('heading', { level: 1, name: '域名' }).waitFor();
  });

  await t.test('an operator sets a second factor up first, and looks at a customer, read only', async () => {
    const page = await console.open('/console/');
    await addPasskeyDevice(page);
    await signInAsPerson(page, 'admin@example.com');
    await page.getByText('This account asks for a second factor').waitFor();
    const add = page.getByRole('button', { name: 'Add passkey' });
    await add.waitFor();
    assert.equal(await page.getByRole('navigation', { name: 'Main menu' }).getByRole('link').count(), 1);
    await add.click();
    await page.getByText('This account asks for a second factor').waitFor({ state: 'detached' });
    await look(page);
    await page.goto('/console/domains');
    await page.getByText('read-only. Reason: ticket 4711.').waitFor();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Add domain' }).count(), 0);
    await page.getByRole('button', { name: 'Stop viewing' }).click();
    await page.getByText('read-only. Reason: ticket 4711.').waitFor({ state: 'detached' });
  });
});

/** Invites on the page of the members, and returns the link that is shown. */
async function invite(page: Page, email: string, role: string): Promise<string> {
  await page.getByRole('button', { name: 'Invite member' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail address').fill(email);
  await dialog.getByLabel('Role').selectOption(role);
  await dialog.getByRole('button', { name: 'Make link' }).click();
  const link = await shownOnce(page, 'Done');
  await page.getByRole('table', { name: 'Invitations' }).getByText(email).waitFor();
  return link;
}

/** What a dialog shows this once: Escape does not close it. */
async function shownOnce(page: Page, done: string): Promise<string> {
  const dialog = page.getByRole('dialog').filter({ has: page.getByRole('button', { name: done }) });
  const text = (await dialog.locator('code').textContent()) ?? '';
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: done }).click();
  await dialog.waitFor({ state: 'detached' });
  return text;
}

/** What the page of a customer's account does for operators. */
async function look(page: Page): Promise<void> {
  const body = JSON.stringify({ account_id: '1', reason: 'ticket 4711' });
  const init = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '${body}' }`;
  const answer = await page.evaluate(`fetch('/session/look', ${init}).then((answer) => answer.json())`);
  assert.partialDeepStrictEqual(answer, { status: 1 });
}
