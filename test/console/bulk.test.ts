/** Many domains at once: added from a pasted list, changed together, settings copied; each with a result of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRESETS, presetSet } from '../../console/pages/domains/presets.ts';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { addDomain, clientOf, openSignedIn } from '../support/console/signed-in.ts';
import { startOrigin } from '../support/edge/origin.ts';
import { needs } from '../support/runner/needs.ts';

test('many domains are added and changed at once', needs('chromium'), async (t) => {
  const console = await startConsole(t, { settings: { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8' } });
  const client = clientOf(console);
  const settingsOf = async (domain_id: string) => (await client.call('domain.settings', { domain_id })).settings;
  const ids = [];
  for (const name of ['one', 'two', 'three']) ids.push(await addDomain(console, `${name}.example.com`));
  const [one = '', two = '', three = ''] = ids;

  await t.test('each line of a pasted list has a result, and those that are refused can be corrected', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains/add');
    await page.getByLabel('Names').fill('four.example.com\none.example.com, -bad-.example.com five.example.com');
    await page.getByLabel('Origins').fill('192.0.2.1');
    await page.getByRole('button', { name: 'Add 4 domains' }).click();
    await page.getByText('2 of 4 added, 2 refused').waitFor();
    const rowOf = (name: string) => page.getByRole('row').filter({ hasText: name });
    await rowOf('four.example.com').getByText('four.example.com.cdn.localhost').waitFor();
    await rowOf('one.example.com').getByText('refused').waitFor();
    await page.getByText('five.example.com. 600 IN CNAME five.example.com.cdn.localhost.').waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.getByRole('button', { name: 'Correct the 2 refused lines' }).click();
    assert.equal(await page.getByLabel('Names').inputValue(), 'one.example.com\n-bad-.example.com');
    assert.equal(await page.getByLabel('Origins').inputValue(), '192.0.2.1');
    await page.getByLabel('Names').fill('six.example.com');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('six.example.com.cdn.localhost', { exact: true }).waitFor();
  });

  await t.test('one setting is tried on the chosen domains, then changed, with a result for each', async (t) => {
    await client.call('domain.change', { domain_id: two, set: { advanced: { page_compress: 1 } } });
    const page = await openSignedIn(t, console, '/console/domains');
    for (const name of ['one', 'two', 'three'])
      await page.getByRole('checkbox', { name: `Choose ${name}.example.com` }).check();
    await page.getByRole('link', { name: 'Change settings' }).click();
    await page.getByRole('heading', { level: 1, name: 'Change 3 domains' }).waitFor();
    await page.getByRole('combobox', { name: 'Add a setting…' }).selectOption({ label: 'Advanced · Compress texts' });
    await page.getByRole('switch', { name: 'Compress texts' }).setChecked(true);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('2 to change, 1 as they are').waitFor();
    const resultOf = (name: string) => page.getByRole('listitem').filter({ hasText: `${name}.example.com` });
    await resultOf('two').getByText('is so already').waitFor();
    assert.equal((await settingsOf(one)).advanced.page_compress, '0', 'nothing was sent yet');
    assert.deepEqual(await findViolations(page), []);
    await page.getByRole('button', { name: 'Apply to 2 domains' }).click();
    await page.getByText('2 changed, 1 as they were').waitFor();
    await resultOf('one').getByText('changed', { exact: true }).waitFor();
    for (const id of [one, two, three]) assert.equal((await settingsOf(id)).advanced.page_compress, '1');
  });

  await t.test('a domain whose settings do not allow the change is left as it is, and says why', async (t) => {
    const redirect = { forbid_http_code: '302', forbid_redirect_url: 'https://example.com/' } as const;
    await client.call('domain.change', { domain_id: one, set: { advanced: redirect } });
    const page = await openSignedIn(t, console, `/console/domains/change?ids=${one}.${three}`);
    const add = page.getByRole('combobox', { name: 'Add a setting…' });
    await add.selectOption({ label: 'Advanced · Refused viewers get' });
    await page.getByRole('combobox', { name: 'Refused viewers get' }).selectOption({ label: 'A redirect (302)' });
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('0 to change, 1 as they are, 1 refused').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'three.example.com' })
      .getByText(/Redirect to|forbid_redirect_url/)
      .waitFor();
    assert.equal(await page.getByRole('button', { name: 'Apply to 0 domains' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Remove: Refused viewers get' }).click();
    await page.getByRole('button', { name: 'Review changes' }).waitFor();
  });

  await t.test('settings are copied from a domain to others, by topic', async (t) => {
    const set = {
      cache: { stale_cap: 600 },
      headers: { headers: [{ action: 'set', name: 'X-A', value: 'b' }] },
    };
    await client.call('domain.change', { domain_id: one, set });
    const page = await openSignedIn(t, console, `/console/domains/change?ids=${two}.${three}`, { locale: 'zh-CN' });
    await page.getByRole('button', { name: '从其他域名复制…' }).click();
    const dialog = page.getByRole('dialog', { name: '复制域名的配置' });
    await dialog.getByRole('combobox', { name: '域名' }).selectOption({ label: 'one.example.com' });
    await dialog.getByRole('checkbox', { name: '缓存选项', checked: true }).waitFor();
    await dialog.getByRole('checkbox', { name: '源站', checked: false }).waitFor();
    await dialog.getByRole('checkbox', { name: '高级配置', checked: true }).uncheck();
    await dialog.getByRole('button', { name: '复制', exact: true }).click();
    await page.getByRole('button', { name: '查看更改' }).click();
    await page.getByText('2 个将更改').waitFor();
    await page.getByRole('button', { name: '应用到 2 个域名' }).click();
    await page.getByText('2 个已更改').waitFor();
    for (const id of [two, three]) {
      const { cache, headers, advanced } = await settingsOf(id);
      assert.deepEqual([cache.stale_cap, headers.headers.length], ['600', 1]);
      assert.equal(advanced.forbid_http_code, '', 'a topic that was left out');
    }
  });

  await t.test('an origin is tried before there is a domain', async (t) => {
    const origin = await startOrigin(t, (_request, response) => {
      response.writeHead(200, { 'cache-control': 'no-store' }).end('hello');
    });
    const page = await openSignedIn(t, console, '/console/domains/add');
    const trial = page.getByRole('button', { name: 'Try the origin' });
    assert.equal(await trial.isDisabled(), true);
    await page.getByLabel('Origins').fill(`127.0.0.1:${origin.port}`);
    await trial.click();
    const answer = page.getByRole('region', { name: `Answer of 127.0.0.1:${origin.port}` });
    await answer.getByText(/^200, connected after \d+ ms$/).waitFor();
    await answer.getByText('Cache-Control says no-store').waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.getByLabel('Origins').fill('10.0.0.1');
    await answer.waitFor({ state: 'hidden' });
    await trial.click();
    await page.getByText('edges do not connect to its address').waitFor();
  });

  await t.test('presets say what they change, suit the type, and can be left out', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains/add');
    const preset = page.getByRole('combobox', { name: 'Settings to begin with' });
    await page.getByText('Compress texts').waitFor();
    await page.getByRole('radio', { name: /^Video/ }).check();
    await page.getByText('Fetch large objects in slices').waitFor();
    await preset.selectOption({ label: 'None' });
    await page.getByText('Fetch large objects in slices').waitFor({ state: 'hidden' });
    await preset.selectOption({ label: 'For a website' });
    await page.getByLabel('Names').fill('preset.example.com');
    await page.getByLabel('Origins').fill('192.0.2.1');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('preset.example.com.cdn.localhost', { exact: true }).waitFor();
    const { list } = await client.call('domain.listBrief', { name: 'preset.example.com' });
    const { advanced, cache } = await settingsOf(list[0]?.domain_id ?? '');
    assert.deepEqual([advanced.page_compress, cache.stale_cap], ['1', '259200']);
  });

  await t.test('what presets say of the defaults is true, and the service takes every preset', async () => {
    const { defaults } = await client.call('domain.settings', { domain_id: one });
    for (const [name, settings] of Object.entries(PRESETS)) {
      for (const { id, before } of settings) {
        const [topic = '', setting = ''] = id.split('.');
        assert.deepEqual(Object(defaults)[topic]?.[setting], before, `${name}: ${id}`);
      }
      const domain = `${name}.preset.example.com`;
      const set = presetSet(name as keyof typeof PRESETS); // names of the table
      const { domain_id } = await client.call('domain.add', { domain, cdn_type: '1', data: ['192.0.2.1'], set });
      const { settings: stored } = await client.call('domain.settings', { domain_id });
      for (const { id, after } of settings) {
        const [topic = '', setting = ''] = id.split('.');
        assert.deepEqual(Object(stored)[topic]?.[setting], after, `${name}: ${id}`);
      }
    }
  });
});
