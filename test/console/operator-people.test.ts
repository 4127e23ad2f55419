/** People, changes of all accounts, the key ring and SMS services of all accounts in the console, in a real browser. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { secretOf } from '../support/api/people.ts';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { makePerson } from '../support/console/people.ts';
import { addDomain, clientOf, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

test('operators look after people, and see what was changed anywhere', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const client = clientOf(console);
  const { account_id } = await client.call('operator.createAccount', { name: 'Ostrich Media' });
  await makePerson(console, 'li@example.com', 'owner', account_id);
  await makePerson(console, 'han@example.com', 'viewer', account_id);

  await t.test('a person is found, kept out, let in again, and given a link for a new password', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/people');
    await page.getByText('2 people', { exact: true }).waitFor();
    await page.getByRole('searchbox').fill('LI@ex');
    await page.getByText('1 person', { exact: true }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('text'), 'LI@ex');
    const row = page.getByRole('row', { name: /li@example\.com/ });
    await row.getByRole('link', { name: `${account_id} (Owner)` }).waitFor();
    const choose = async (act: string) => {
      await row.getByRole('button', { name: 'Actions: li@example.com' }).click();
      await page.getByRole('menuitem', { name: act }).click();
    };
    const isDisabled = async () => (await client.call('operator.listPersons', { text: 'li@' })).list[0]?.disabled;
    await choose('Disable person');
    const question = page.getByRole('dialog', { name: 'Disable li@example.com?' });
    await question.getByText(/^All sessions end/).waitFor();
    await question.getByRole('button', { name: 'Disable person' }).click();
    await row.getByText('disabled', { exact: true }).waitFor();
    assert.equal(await isDisabled(), '1');
    await choose('Enable person');
    await row.getByText('enabled', { exact: true }).waitFor();
    assert.equal(await isDisabled(), '0');

    await choose('Make link for a new password');
    const form = page.getByRole('dialog', { name: 'A new password for li@example.com' });
    await form.getByRole('switch', { name: 'Remove second factors' }).click();
    await form.getByRole('button', { name: 'Make link' }).click();
    const shown = page.getByRole('dialog', { name: 'Hand over this link' });
    const link = (await shown.locator('code').textContent()) ?? '';
    await page.keyboard.press('Escape');
    assert.equal(await shown.isVisible(), true, 'it is not lost by a key');
    await shown.getByRole('button', { name: 'Done' }).click();
    await shown.waitFor({ state: 'hidden' });
    assert.partialDeepStrictEqual(await client.call('invitation.get', { secret: secretOf(link) }), {
      kind: 'password',
      email: 'li@example.com',
    });
    await page.getByRole('searchbox').fill('nobody');
    await page.getByText('Nobody matches').waitFor();
  });

  await t.test('somebody who signs in already is added to another account without a link', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/people');
    await page.getByRole('button', { name: 'Add person' }).click();
    const form = page.getByRole('dialog', { name: 'Add person' });
    await form.getByLabel('E-mail address').fill('han@example.com');
    await form.getByRole('button', { name: 'Add person' }).click();
    await form.getByText(/^Expected an integer from 1/).waitFor();
    await form.getByLabel('Id of the account').fill('1');
    await form.getByRole('button', { name: 'Add person' }).click();
    await page.getByText(/^Somebody with this address signs in here already/).waitFor();
    await form.waitFor({ state: 'hidden' });
    const { list } = await client.call('operator.listPersons', { text: 'han@' });
    assert.deepEqual(list[0]?.memberships.map((membership) => membership.account_id).sort(), ['1', account_id].sort());
  });

  await t.test('changes of all accounts are narrowed by account, and looked at', async (t) => {
    await addDomain(console, 'www.example.com');
    const page = await openSignedIn(t, console, '/console/operator/audit');
    await page.getByRole('row', { name: /^domain\.add/ }).waitFor();
    await page.getByRole('searchbox', { name: 'Id of an account' }).fill(account_id);
    await page.getByRole('row', { name: /^domain\.add/ }).waitFor({ state: 'hidden' });
    assert.equal(new URL(page.url()).searchParams.get('account'), account_id);
    const row = page.getByRole('row', { name: /^operator\.createPerson han@example\.com/ });
    await row.getByRole('link', { name: account_id, exact: true }).waitFor();
    await row.getByRole('link', { name: 'operator.createPerson' }).click();
    const dialog = page.getByRole('dialog', { name: /^Change \d+$/ });
    await dialog.getByRole('link', { name: account_id, exact: true }).waitFor();
    await dialog.getByText('viewer').first().waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('combobox', { name: 'Target' }).selectOption({ label: 'key ring' });
    await page.getByText('No change matches').waitFor();
    await page.goto(`/console/operator/accounts/${account_id}`);
    await page.getByRole('link', { name: 'Changes', exact: true }).click();
    await row.waitFor();
  });

  await t.test('a domain of any account is found, and leads to its account', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/domains');
    await page.getByRole('searchbox').fill('WWW.exa');
    const row = page.getByRole('row', { name: /^www\.example\.com/ });
    await row.getByRole('link', { name: '1', exact: true }).waitFor();
    // Chosen in the pause after the typing, which does not undo it.
    await page.getByRole('searchbox').fill('www.exam');
    await page.getByRole('combobox', { name: 'State' }).selectOption({ label: 'Disabled' });
    await page.getByText('No domain matches').waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption({ label: 'All states' });
    await row.getByRole('button', { name: 'Actions: www.example.com' }).click();
    await page.getByRole('menuitem', { name: 'Disable domain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable domain' }).click();
    await row.getByText(/^disabled$/i).waitFor();
  });

  await t.test('a key is added to the key ring after a question', async (t) => {
    const keys = () => readFileSync(join(console.service.dataDir, 'keyring'), 'utf8').trim().split('\n').length;
    const before = keys();
    const page = await openSignedIn(t, console, '/console/operator/health?view=settings');
    await page.getByRole('button', { name: 'Rotate key ring' }).click();
    const question = page.getByRole('dialog', { name: 'Add a key to the key ring?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'hidden' });
    assert.equal(keys(), before);
    await page.getByRole('button', { name: 'Rotate key ring' }).click();
    await question.getByRole('button', { name: 'Rotate key ring' }).click();
    await page.getByText('Copy the key ring now').waitFor();
    await page.getByText('Secrets sealed with it').waitFor();
    assert.equal(keys(), before + 1);
    const { list } = await client.call('auditOperator.list', { target_kind: 'keyring' });
    assert.equal(list[0]?.operation, 'operator.rotateKeyring');
  });

  await t.test('the SMS services of all accounts lead to their accounts', async (t) => {
    const { app_key } = await client.call('smsOperator.createApp', { account_id, name: 'shop' });
    const page = await openSignedIn(t, console, '/console/operator/connectors?view=services');
    const row = page.getByRole('row', { name: `shop ${app_key}` });
    await row.getByRole('link', { name: account_id, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Ostrich Media' }).waitFor();
  });

  await t.test('operators who may only read see changes, and neither people nor the key ring', async () => {
    const { account_id: operators } = await client.call('operator.createAccount', { name: 'Ops', kind: 'operator' });
    const token = { account_id: operators, scopes: ['operator' as const], access: ['read' as const] };
    const { access_token } = await client.call('operator.createToken', token);
    const page = await console.open('/console/operator/audit');
    await signIn(page, access_token);
    await page
      .getByRole('row', { name: /^operator\.createAccount/ })
      .first()
      .waitFor();
    const menu = page.getByRole('navigation', { name: 'Main menu' });
    assert.equal(await menu.getByRole('link', { name: 'People' }).count(), 0);
    await page.goto('/console/operator/people');
    await page.getByText('You are not allowed to see this').waitFor();
    await page.goto('/console/operator/health?view=settings');
    await page.getByRole('row', { name: /^control-listen/ }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Rotate key ring' }).count(), 0);
    await page.context().close();
  });

  await t.test('operators read it in Chinese too, light and dark', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/people', { locale: 'zh-CN' });
    await page.getByRole('heading', { level: 1, name: '人员' }).waitFor();
    await page.getByRole('button', { name: '操作: li@example.com' }).click();
    await page.getByRole('menuitem', { name: '停用人员' }).click();
    const question = page.getByRole('dialog', { name: '停用 li@example.com？' });
    await question.getByText('该人员的所有会话将立即结束').waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findViolations(page), []);
    await question.getByRole('button', { name: '取消' }).click();
  });
});
