/** The operator's pages of accounts, review and health in the console, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { startConsole } from '../support/console/browser.ts';
import { clientOf, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

test('operators look after accounts, reviews and the service', needs('chromium'), async (t) => {
  const console = await startConsole(t, { settings: { CAUSEWAY_REVIEW: 'manual' } });
  const operator = clientOf(console);
  const { account_id } = await operator.call('operator.createAccount', { name: 'Ostrich Media' });
  const { access_token } = await operator.call('operator.createToken', { account_id, scopes: ['cdn'] });
  const { account_id: operators } = await operator.call('operator.createAccount', { name: 'Ops', kind: 'operator' });
  const issue = async (account: string, access: ('read' | 'write')[]) => {
    const token = { account_id: account, scopes: ['operator' as const], access };
    return (await operator.call('operator.createToken', token)).access_token;
  };
  const customer = createClient({ baseUrl: console.service.controlUrl, accessToken: access_token, locale: 'en' });

  await t.test(
    'an account is created, found by a part of its name, and given a token that is shown once',
    async (t) => {
      const page = await openSignedIn(t, console, '/console/operator/accounts');
      await page.getByRole('button', { name: 'Create account' }).click();
      const form = page.getByRole('dialog', { name: 'Create account' });
      await form.getByRole('button', { name: 'Create account' }).click();
      await form.getByText(/^Expected text of 1 to 64 characters/).waitFor();
      await form.getByLabel('Name').fill('Heron Games');
      await form.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('heading', { level: 1, name: 'Heron Games' }).waitFor();
      await page
        .getByRole('navigation', { name: 'Parts of the account' })
        .getByRole('link', { name: 'Tokens' })
        .click();
      await page.getByText('It has no tokens').waitFor();
      await page.getByRole('button', { name: 'Create token' }).click();
      const token = page.getByRole('dialog', { name: 'Create token' });
      await token.getByLabel('Label').fill('deploy');
      await token.getByLabel('manage').check();
      await token.getByLabel('Expires').selectOption({ label: 'in 30 days' });
      await token.getByRole('button', { name: 'Create token' }).click();
      const shown = page.getByRole('dialog', { name: 'The new access token' });
      const secret = (await shown.locator('code').textContent()) ?? '';
      await page.keyboard.press('Escape');
      assert.equal(await shown.isVisible(), true, 'it is not lost by a key');
      await shown.getByRole('button', { name: 'I have stored it' }).click();
      await shown.waitFor({ state: 'hidden' });
      const made = createClient({ baseUrl: console.service.controlUrl, accessToken: secret, locale: 'en' });
      assert.equal((await made.call('token.list', {})).list[0]?.label, 'deploy');
      await page.getByRole('button', { name: 'Actions: deploy' }).click();
      await page.getByRole('menuitem', { name: 'Narrow token' }).click();
      const narrowed = page.getByRole('dialog', { name: 'Narrow the token deploy' });
      await narrowed.getByLabel('manage').uncheck();
      await narrowed.getByRole('button', { name: 'Narrow token' }).click();
      await page
        .getByRole('row', { name: /^deploy/ })
        .getByText('read, write', { exact: true })
        .waitFor();
      await page.getByRole('button', { name: 'Actions: deploy' }).click();
      await page.getByRole('menuitem', { name: 'Revoke token' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
      await page.getByText('revoked', { exact: true }).waitFor();
      await assert.rejects(made.call('token.list', {}), /token/);
      await page.getByRole('button', { name: 'Add person' }).click();
      const person = page.getByRole('dialog', { name: 'Add person' });
      await person.getByLabel('E-mail address').fill('heron@example.com');
      await person.getByRole('button', { name: 'Add person' }).click();
      const link = page.getByRole('dialog', { name: 'The link for the password' });
      await link.getByText(/#cwy_/).waitFor();
      await link.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('navigation', { name: 'Main menu' }).getByRole('link', { name: 'Accounts' }).click();
      await page.getByRole('searchbox').fill('oSTRICH');
      await page.getByText('1 account', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Ostrich Media' }).click();
      await page.getByRole('heading', { level: 1, name: 'Ostrich Media' }).waitFor();
    },
  );

  await t.test('limits are changed one by one, and an account is disabled and enabled again', async (t) => {
    const page = await openSignedIn(t, console, `/console/operator/accounts/${account_id}`);
    await page.getByRole('button', { name: 'Change limits' }).click();
    const form = page.getByRole('dialog', { name: 'Change limits' });
    await form.getByLabel('Domains', { exact: true }).fill('many');
    await form.getByRole('button', { name: 'Change limits' }).click();
    await form.getByText(/^Expected an integer from 0 to 1000000000/).waitFor();
    await form.getByLabel('Domains', { exact: true }).fill('7');
    await form.getByRole('button', { name: 'Change limits' }).click();
    await page.getByText('0 of 7').waitFor();
    await page.getByRole('button', { name: 'Disable account' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable account' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    await assert.rejects(customer.call('account.getLimits', {}));
    await page.getByRole('button', { name: 'Enable account' }).click();
    await page.getByText('enabled', { exact: true }).waitFor();
    assert.deepEqual((await customer.call('account.getLimits', {})).domains, { limit: 7, used: 0 });
  });

  await t.test('an operator looks at an account as its customer, who is told', async (t) => {
    const page = await openSignedIn(t, console, `/console/operator/accounts/${account_id}`);
    await page.getByRole('button', { name: 'Look as this customer' }).click();
    const form = page.getByRole('dialog', { name: 'Look as this customer' });
    await form.getByRole('button', { name: 'Begin to look' }).click();
    await form.getByText(/^Expected text of 1 to 200 characters/).waitFor();
    await form.getByLabel('Reason').fill('ticket 4711');
    await form.getByRole('button', { name: 'Begin to look' }).click();
    await page.getByText(/ticket 4711/).waitFor();
    const { list } = await customer.call('audit.list', { operation: 'session.look' });
    assert.equal(list.length, 1);
  });

  await t.test('domains that wait are approved, or rejected with a reason that the customer sees', async () => {
    const page = await console.open('/console/operator/review');
    await signIn(page, await issue(operators, ['read', 'write']));
    await page.getByText('No domain waits for review').waitFor();
    const add = async (domain: string) =>
      await customer.call('domain.add', { domain, cdn_type: '1', data: ['192.0.2.1'] });
    const [good, bad] = [await add('good.example.com'), await add('bad.example.com')];
    // Hints bring them here.
    await page
      .getByRole('row', { name: /good\.example\.com/ })
      .getByRole('button', { name: 'Approve' })
      .click();
    await page.getByText('good.example.com was approved').waitFor();
    await page
      .getByRole('row', { name: /bad\.example\.com/ })
      .getByRole('button', { name: 'Reject…' })
      .click();
    const form = page.getByRole('dialog', { name: 'Reject bad.example.com' });
    await form.getByLabel('Reason').fill('备案号与域名不符');
    await form.getByRole('button', { name: 'Reject domain' }).click();
    await page.getByText('No domain waits for review').waitFor();
    assert.equal((await customer.call('domain.get', { domain_id: bad.domain_id })).reject_reason, '备案号与域名不符');
    assert.ok(Number((await customer.call('domain.get', { domain_id: good.domain_id })).domain_status) <= 2);
    await page.goto(`/console/operator/accounts/${account_id}/domains`);
    await page.getByRole('button', { name: 'Actions: good.example.com' }).click();
    await page.getByRole('menuitem', { name: 'Disable domain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable domain' }).click();
    await eventually('it is disabled', async () => {
      const { domain_status } = await customer.call('domain.get', { domain_id: good.domain_id });
      return Number(domain_status) === 6;
    });
    await page.context().close();
  });

  await t.test('money and SMS services of an account are kept', async (t) => {
    const page = await openSignedIn(t, console, `/console/operator/accounts/${account_id}/money`);
    await page.getByText('There are no entries yet').waitFor();
    await page.getByRole('button', { name: 'Recharge' }).click();
    const form = page.getByRole('dialog', { name: 'Recharge' });
    await form.getByLabel('Amount').fill('500');
    await form.getByLabel('Reference').fill('invoice 17');
    await form.getByRole('button', { name: 'Recharge' }).click();
    await page.getByRole('row', { name: /invoice 17/ }).waitFor();
    await page.getByText('Balance: 500').waitFor();
    await page.getByRole('button', { name: 'Create SMS service' }).click();
    const app = page.getByRole('dialog', { name: 'Create SMS service' });
    await app.getByLabel('Name').fill('shop');
    await app.getByRole('button', { name: 'Create SMS service' }).click();
    await page.getByRole('row', { name: /shop sms_/ }).waitFor();
  });

  await t.test('health has the processes, settings say where they come from and hide secrets', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/health');
    await page.getByRole('row', { name: /edge-worker-1 ready/ }).waitFor();
    await page.getByText('SQLite').waitFor();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('searchbox').fill('review');
    await page.getByRole('row', { name: /^review manual CAUSEWAY_REVIEW/ }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByText('Events are posted nowhere.').waitFor();
    await page.getByRole('button', { name: 'Change webhook' }).click();
    const form = page.getByRole('dialog', { name: 'Change webhook' });
    await form.getByLabel('Address').fill('ftp://ops.example');
    await form.getByRole('button', { name: 'Save webhook' }).click();
    await form.getByText(/^Expected a URL that begins with http/).waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Events are posted nowhere.').waitFor();
  });

  await t.test('customers have no page of operators, and operators who may only read have no buttons', async () => {
    const page = await console.open('/console/operator/edges');
    await signIn(page, access_token);
    await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
    assert.equal(await page.getByText('Operator', { exact: true }).count(), 0);
    await page.context().close();
    const reader = await console.open('/console/');
    await signIn(reader, await issue(operators, ['read']));
    await reader.getByRole('link', { name: 'Ostrich Media' }).waitFor();
    assert.equal(await reader.getByRole('button', { name: 'Create account' }).count(), 0);
    await reader.goto(`/console/operator/accounts/${account_id}/tokens`);
    await reader.getByText('You are not allowed to see this').waitFor();
    await reader.context().close();
  });

  await t.test('operators read it in Chinese too', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/accounts', { locale: 'zh-CN' });
    await page.getByRole('link', { name: 'Ostrich Media' }).click();
    await page.getByRole('button', { name: '修改限额' }).click();
    await page.getByRole('dialog', { name: '修改限额' }).getByLabel('域名数').waitFor();
  });
});
