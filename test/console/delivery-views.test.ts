/** Searched logs, several domains in one chart, certificates that are replaced, and what needs attention, in a real browser. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createAuthority } from '../support/certificates/certificate.ts';
import { findViolations } from '../support/console/axe.ts';
import { addDomain, clientOf, openSignedIn } from '../support/console/signed-in.ts';
import { startTrafficConsole } from '../support/console/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const DOMAIN = 'www.example.com';
const OTHER = 'other.example.com';

test('what was delivered is looked into', needs('chromium', 'openssl'), async (t) => {
  const console = await startTrafficConsole(t, DOMAIN);
  const client = clientOf(console);
  const authority = createAuthority(t);
  const { domainId } = console;
  const otherId = await addDomain(console, OTHER);
  await eventually('the edge serves the domain', async () => (await console.get('/a.txt')) === 200);
  for (const path of ['/a.txt', '/missing?x=1', '/missing?x=2']) await console.get(path);

  await t.test('lines are found by a filter and a time, explained, and taken along as a file', async (t) => {
    await eventually('the lines have been sent', async () => {
      const { list } = await client.call('log.search', { domain_id: domainId, filter: 'status=404' });
      return list.length === 2;
    });
    const page = await openSignedIn(t, console, `/console/logs?view=search&domain=${DOMAIN}`);
    await page.getByText('Nothing is searched yet').waitFor();
    await page.getByLabel('Status').fill('4xx');
    await page.getByRole('button', { name: 'Search lines' }).click();
    await page.getByRole('heading', { name: '2 lines' }).waitFor();
    await page.getByText(/read, which is all/).waitFor();
    assert.match(page.url(), /filter=status%3D4xx&from=\d+&to=\d+/);
    assert.equal(await page.getByText('/a.txt').count(), 0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const [head, ...rows] = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.match(head ?? '', /^\u{feff}time,edge,client,/u);
    assert.deepEqual([rows.length, rows[0]?.split(',')[7]], [2, '404']);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await findViolations(page), [], colorScheme);
    }
    await page.getByRole('row', { name: /x=2/ }).getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'All fields of the line' });
    await dialog.getByText('From the origin.').or(dialog.getByText('An error answer from the cache.')).waitFor();
    await dialog.getByText('The address that the request came from.').waitFor();
  });

  await t.test('a search that finds nothing says so, and a filter that the service refuses is explained', async (t) => {
    const page = await openSignedIn(t, console, `/console/logs?view=search&domain=${DOMAIN}`, { locale: 'zh-CN' });
    await page.getByLabel('路径').fill('/nothing');
    await page.getByRole('button', { name: '查找日志' }).click();
    await page.getByText('没有符合条件的日志').waitFor();
    await page.getByLabel('状态码').fill('often');
    await page.getByRole('button', { name: '查找日志' }).click();
    await page
      .getByRole('alert')
      .getByText(/filter\[status\]/)
      .waitFor();
  });

  await t.test('several domains stand in one chart, and each has a column', async (t) => {
    const page = await openSignedIn(t, console, '/console/statistics?range=1h');
    const choose = page.getByRole('combobox', { name: 'Domain', exact: true });
    await choose.selectOption({ label: DOMAIN });
    await page.getByRole('button', { name: DOMAIN }).waitFor();
    await choose.selectOption({ label: OTHER });
    await page.getByRole('columnheader', { name: DOMAIN }).waitFor();
    await page.getByRole('columnheader', { name: OTHER }).waitFor();
    await page.getByRole('combobox', { name: 'Compare' }).selectOption({ label: 'With the time before' });
    await page.getByRole('columnheader', { name: `${OTHER}, before` }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.getByRole('combobox', { name: 'Domains' }).selectOption({ label: 'Together' });
    await page.getByRole('columnheader', { name: '2xx' }).waitFor();
    await page.getByRole('button', { name: OTHER }).click();
    await page.waitForURL((url) => url.searchParams.get('domains') === domainId);
  });

  await t.test(
    'what needs attention leads to where it can be mended, and a certificate is replaced everywhere',
    async (t) => {
      const [old, fresh, narrow] = [
        authority.issue([DOMAIN, OTHER], { days: 5 }),
        authority.issue([DOMAIN, OTHER], { days: 90 }),
        authority.issue([DOMAIN], { days: 90 }),
      ];
      const keys = new Map<string, string>();
      for (const [ssl_title, { cert, key }] of Object.entries({ old, fresh, narrow })) {
        const { ssl_key } = await client.call('certificate.add', { ssl_title, certificate: cert, private_key: key });
        keys.set(ssl_title, ssl_key);
      }
      const ssl_key = keys.get('old') ?? '';
      for (const domain_id of [domainId, otherId])
        await client.call('config.setSsl', { domain_id, ssl_control: 1, ssl_key });
      const page = await openSignedIn(t, console, '/console/');
      const attention = page.getByRole('region', { name: 'Needs attention' });
      await attention.getByText('the certificate ends in 4 days').waitFor();
      await attention.getByRole('link', { name: 'old' }).click();
      await page.getByRole('dialog', { name: 'old' }).getByRole('button', { name: 'Replace everywhere…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Replace old on all domains' });
      const choose = dialog.getByRole('combobox', { name: 'New certificate' });
      await choose.selectOption({ label: `narrow (${DOMAIN})` });
      await dialog
        .getByRole('row', { name: new RegExp(OTHER) })
        .getByText('stays as it is')
        .waitFor();
      await dialog
        .getByRole('row', { name: new RegExp(DOMAIN) })
        .getByText('will be replaced')
        .waitFor();
      const usersOf = async (ssl_key = '') => (await client.call('certificate.get', { ssl_key })).used_by_total;
      assert.equal(await usersOf(keys.get('narrow')), 0, 'nothing is changed before it is confirmed');
      await choose.selectOption({ label: `fresh (${DOMAIN}, ${OTHER})` });
      await dialog
        .getByRole('row', { name: new RegExp(OTHER) })
        .getByText('will be replaced')
        .waitFor();
      await dialog.getByRole('button', { name: 'Replace certificate' }).click();
      await dialog.getByText('2 domains have the new certificate.').waitFor();
      assert.equal(await usersOf(keys.get('fresh')), 2);
      assert.deepEqual(await findViolations(page), []);
    },
  );
});
