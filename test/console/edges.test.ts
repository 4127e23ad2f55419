/** The fleet in the console: a machine that enrols with what the page shows, drained, frozen, revoked; in a real browser. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, openSignedIn } from '../support/console/signed-in.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startSinkReceiver } from '../support/logs/sink-receiver.ts';
import { type RunningService, runCommand, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Does on another machine what the page says. */
async function enrol(t: TestContext, token: string, commands: string) {
  const [, control = ''] = /--control (\S+) --token-file token\n/.exec(commands) ?? [];
  const [dataDir, file] = [join(temporaryFolder(t), 'edge'), join(temporaryFolder(t), 'token')];
  writeFileSync(file, token);
  const order = ['edge', 'enrol', '--data-dir', dataDir, '--control', control, '--token-file', file];
  const { code, stderr } = await runCommand(t, order);
  assert.equal(code, 0, stderr);
  return dataDir;
}

function signalAll({ pids }: RunningService, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of Object.values(pids())) process.kill(pid, signal);
}

test('operators run a fleet', needs('chromium'), async (t) => {
  const listen = `127.0.0.1:${await freePort()}`;
  const console = await startConsole(t, { settings: { CAUSEWAY_FLEET_LISTEN: listen } });
  // They outlast the part of the test that makes them.
  const enrolMachine = (token: string, commands: string) => enrol(t, token, commands);
  const startEdge = (dataDir: string) => startService(t, { dataDir, settings: { CAUSEWAY_ROLES: 'edge' } });
  let edge: RunningService | undefined;

  await t.test('a machine enrols with the token and the commands that the page shows once', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/edges');
    await page.getByText(/^1 of 1 ready · newest revision \d+$/).waitFor();
    await page.getByRole('button', { name: 'Add edge' }).click();
    const form = page.getByRole('dialog', { name: 'Create token' });
    await form.getByLabel('Name of the edge').fill('fra 1');
    await form.getByLabel('Labels').fill('rack=b7');
    await form.getByRole('button', { name: 'Create token' }).click();
    await form.getByText(/^Expected the id of an edge/).waitFor();
    await form.getByLabel('Name of the edge').fill('fra1');
    await form.getByRole('button', { name: 'Create token' }).click();
    const shown = page.getByRole('dialog', { name: 'The enrolment token' });
    const texts = shown.locator('code');
    await texts.nth(1).waitFor();
    const [token = '', commands = ''] = await texts.allTextContents();
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    const dataDir = await enrolMachine(token, commands);
    const row = page.getByRole('row', { name: /fra1/ });
    await row.getByText('never heard of').waitFor();
    await row.getByText('rack=b7').waitFor();
    edge = await startEdge(dataDir);
    await row.getByText('ready', { exact: true }).waitFor();
    await page.getByText(/^2 of 2 ready/).waitFor();
    await page.getByRole('link', { name: 'Enrolment tokens' }).click();
    await page.getByText('used up').waitFor();
  });

  await t.test('the page of an edge has its checks and its events, and it is drained and put back there', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/edges');
    await page.getByRole('link', { name: 'fra1' }).click();
    await page.getByRole('heading', { level: 1, name: 'fra1' }).waitFor();
    await page.getByRole('row', { name: 'HTTP answers passes' }).waitFor();
    await page.getByRole('row', { name: /^enrolled/ }).waitFor();
    await page.getByRole('button', { name: 'Actions: fra1' }).click();
    await page.getByRole('menuitem', { name: 'Drain edge' }).click();
    await page.getByRole('status').getByText('draining', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Actions: fra1' }).click();
    await page.getByRole('menuitem', { name: 'Put edge back' }).click();
    await page.getByRole('status').getByText('ready', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show domains' }).click();
    await page.getByText('It has had none').waitFor();
  });

  await t.test('a frozen edge is seen to stay behind, and is waited for', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/edges');
    const row = page.getByRole('row', { name: /fra1/ });
    await row.getByText('ready', { exact: true }).waitFor();
    assert.ok(edge);
    signalAll(edge, 'SIGSTOP');
    const id = await addDomain(console, 'www.example.com');
    await row.getByText(/\d behind/).waitFor();
    const other = await console.openBeside(page, `/console/domains/${id}/propagation`);
    await other.getByRole('row', { name: /fra1 waiting/ }).waitFor();
    signalAll(edge, 'SIGCONT');
    await page.bringToFront();
    await row.getByText(/\d behind/).waitFor({ state: 'hidden' });
  });

  await t.test('groups are made, made default and removed', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/edges?view=groups');
    await page.getByRole('button', { name: 'Add group' }).click();
    const form = page.getByRole('dialog', { name: 'Add group' });
    await form.getByLabel('Name').fill('Europe');
    await form.getByRole('button', { name: 'Add group' }).click();
    await form.getByText(/^Expected the name of an edge group/).waitFor();
    await form.getByLabel('Name').fill('eu');
    await form.getByRole('button', { name: 'Add group' }).click();
    const row = page.getByRole('row', { name: /^eu/ });
    await row.getByRole('button', { name: 'Actions: eu' }).click();
    await page.getByRole('menuitem', { name: 'Make it a default group' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Make it a default group' }).click();
    await row.getByText('serves domains without groups').waitFor();
    await row.getByRole('button', { name: 'Actions: eu' }).click();
    await page.getByRole('menuitem', { name: 'Remove group' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove group' }).click();
    await row.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Actions: default' }).click();
    await page.getByRole('menuitem', { name: 'Remove group' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove group' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
  });

  await t.test('receivers of log lines are added, tried, changed and removed', async (t) => {
    await using receiver = await startSinkReceiver();
    const page = await openSignedIn(t, console, '/console/operator/edges?view=sinks');
    await page.getByText('No receivers yet').waitFor();
    await page.getByRole('button', { name: 'Add receiver' }).click();
    const form = page.getByRole('dialog', { name: 'Add receiver' });
    await form.getByLabel('Name').fill('Vector');
    await form.getByLabel('Address').fill(receiver.url);
    await form.getByLabel('Header fields').fill('Authorization: Bearer 4f9c');
    await form.getByRole('button', { name: 'Add receiver' }).click();
    await form.getByText(/^Expected a name: 1 to 32 lower-case letters/).waitFor();
    await form.getByLabel('Name').fill('vector');
    await form.getByRole('button', { name: 'Add receiver' }).click();
    const row = page.getByRole('row', { name: /^vector/ });
    await row.getByText('100 %, all domains').waitFor();
    const choose = async (action: string) => {
      await row.getByRole('button', { name: 'Actions: vector' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await choose('Send test record');
    await page.getByText(/^vector answered 200 in \d+ ms/).waitFor();
    await choose('Change receiver');
    const change = page.getByRole('dialog', { name: 'Change vector' });
    await change.getByLabel('Sample (%)').fill('10');
    await change.getByRole('button', { name: 'Change receiver' }).click();
    await row.getByText('10 %, all domains').waitFor();
    await choose('Send test record');
    await eventually('it has come again', () => receiver.accepted.length === 2);
    assert.equal(receiver.accepted[1]?.headers['authorization'], 'Bearer 4f9c', 'header fields stay');
    assert.deepEqual(await findViolations(page), []);
    await choose('Remove receiver');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove receiver' }).click();
    await row.waitFor({ state: 'hidden' });
  });

  await t.test('an edge is revoked and removed when its name is typed, and its list says so', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/edges/fra1');
    const choose = async (action: string, reason?: string) => {
      await page.getByRole('button', { name: 'Actions: fra1' }).click();
      await page.getByRole('menuitem', { name: action }).click();
      const dialog = page.getByRole('dialog');
      if (reason !== undefined) await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByLabel('Type its name').fill('fra');
      assert.equal(await dialog.getByRole('button', { name: action }).isDisabled(), true);
      await dialog.getByLabel('Type its name').fill('fra1');
      await dialog.getByRole('button', { name: action }).click();
      await dialog.waitFor({ state: 'hidden' });
    };
    await choose('Revoke edge', 'machine lost');
    await page.getByRole('status').getByText('revoked', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show domains' }).click();
    await page.getByRole('row', { name: /www\.example\.com/ }).waitFor();
    await choose('Remove edge');
    await page.getByRole('status').getByText('removed', { exact: true }).waitFor();
    await page.goto('/console/operator/edges?status=ready');
    await page.getByText(/^1 of 1 ready/).waitFor();
    assert.equal(await page.getByRole('link', { name: 'fra1' }).count(), 0);
    await page.goto('/console/operator/edges?view=events');
    await page.getByRole('row', { name: /^fra1 revoked machine lost/ }).waitFor();
  });

  await t.test('an edge that is not there, and the fleet in Chinese', async (t) => {
    const page = await openSignedIn(t, console, '/console/operator/edges/nowhere', { locale: 'zh-CN' });
    await page.getByText('没有找到').waitFor();
    await page.getByRole('link', { name: '节点', exact: true }).first().click();
    await page.getByText(/^1\/1 个就绪/).waitFor();
  });
});
