/** Certificates, purge, statistics, logs and the audit in the console, in a real browser, with real traffic. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createAuthority } from '../support/certificates/certificate.ts';
import { clientOf, openSignedIn } from '../support/console/signed-in.ts';
import { startTrafficConsole } from '../support/console/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const DOMAIN = 'www.example.com';

test('what is delivered is seen and steered', needs('chromium', 'openssl'), async (t) => {
  const console = await startTrafficConsole(t, DOMAIN);
  const client = clientOf(console);
  const authority = createAuthority(t);
  await eventually('the edge serves the domain', async () => (await console.get('/a.txt')) === 200);

  await t.test('a certificate is read in the browser, added, looked at and deleted', async (t) => {
    const page = await openSignedIn(t, console, '/console/certificates');
    await page.getByText('There is no certificate yet').waitFor();
    await page.getByRole('link', { name: 'Add certificate' }).click();
    const { cert, key } = authority.issue([DOMAIN, 'example.com'], { hasIntermediate: true, days: 5 });
    await page.getByLabel('Certificate and chain').fill('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----');
    await page.getByText('A certificate cannot be read.').waitFor();
    await page.getByLabel('Certificate and chain').fill('');
    const files = { name: 'all.pem', mimeType: 'application/x-pem-file', buffer: Buffer.from(key + cert) };
    await page.getByLabel('Choose files').setInputFiles(files);
    await page.getByText(`For ${DOMAIN}, example.com, with 1 more of its chain`).waitFor();
    assert.equal(await page.getByLabel('Private key').inputValue(), key);
    assert.equal(await page.getByLabel('Name').inputValue(), DOMAIN);
    await page.getByRole('button', { name: 'Add certificate' }).click();
    const dialog = page.getByRole('dialog', { name: DOMAIN });
    await dialog.getByText('No domain uses it.').waitFor();
    await dialog.getByText('ends in 4 days').waitFor();
    await dialog.getByRole('button', { name: 'Delete certificate' }).click();
    await dialog.getByText('It cannot be restored.').waitFor();
    assert.equal((await client.call('certificate.list', {})).length, 1, 'nothing is deleted by the first press');
    await dialog.getByRole('button', { name: 'Delete certificate' }).click();
    await page.getByText('There is no certificate yet').waitFor();
  });

  await t.test('lines are told apart as they are typed, and a purge is followed to its end', async (t) => {
    const page = await openSignedIn(t, console, '/console/purge');
    const field = page.getByLabel('Addresses');
    await field.fill(`http://${DOMAIN}/a.txt\nhttp://${DOMAIN}/img/\nnonsense`);
    await page.getByText('no URL such as').waitFor();
    const submit = page.getByRole('button', { name: 'Purge addresses' });
    assert.equal(await submit.isDisabled(), true);
    await field.fill(`http://${DOMAIN}/a.txt\nhttp://${DOMAIN}/img/`);
    await submit.click();
    const dialog = page.getByRole('dialog', { name: /^Task \d+$/ });
    await dialog.getByText('1 of 1 edges').first().waitFor();
    assert.equal(await dialog.getByText('directory', { exact: true }).count(), 1);
    await dialog.getByRole('button', { name: 'Close' }).click();
    assert.equal(await field.inputValue(), '');
    await page
      .getByRole('row', { name: /Task \d+/ })
      .getByText('done')
      .waitFor();
    await page.getByText('9,999 of 10,000').waitFor();
  });

  await t.test('a whole domain is purged only when its name is typed', async (t) => {
    const page = await openSignedIn(t, console, '/console/purge');
    await page.getByRole('button', { name: 'Purge a whole domain…' }).click();
    const dialog = page.getByRole('dialog');
    const submit = dialog.getByRole('button', { name: 'Purge domain' });
    await dialog.getByRole('combobox', { name: 'Domain' }).selectOption({ label: DOMAIN });
    await dialog.getByLabel('Type its name').fill('www.example.co');
    assert.equal(await submit.isDisabled(), true);
    await dialog.getByLabel('Type its name').fill(DOMAIN);
    await submit.click();
    await page.getByRole('dialog', { name: /^Task/ }).getByText('whole domain').waitFor();
  });

  await t.test('a prefetch says which lines it cannot take', async (t) => {
    const page = await openSignedIn(t, console, '/console/purge?act=prefetch');
    await page.getByLabel('Addresses').fill(`http://${DOMAIN}/img/`);
    await page.getByText('a directory cannot be prefetched').waitFor();
    await page.getByLabel('Addresses').fill(`http://${DOMAIN}/b.txt`);
    await page.getByRole('button', { name: 'Prefetch addresses' }).click();
    await page.getByRole('dialog', { name: /^Task/ }).getByText('1 of 1 edges').waitFor();
  });

  await t.test('statistics have the requests, in the chart, the table and the file', async (t) => {
    for (const path of ['/a.txt', '/a.txt', '/missing']) await console.get(path);
    await eventually('the requests are counted', async () => {
      const { total } = await client.call('stat.requests', { domain: DOMAIN });
      const { list } = await client.call('stat.top', { kind: 'status', domain: DOMAIN });
      // What is most frequent comes with the log files, a little later than the sums.
      return total.status_4xx === 1 && total.status_2xx >= 3 && list.some(({ value }) => value === '404');
    });
    const page = await openSignedIn(t, console, `/console/statistics?domains=${console.domainId}&range=1h`);
    await page.locator('canvas').waitFor();
    await page.getByText('by minute').waitFor();
    await page.getByRole('list', { name: 'Top URLs' }).getByText('/a.txt').waitFor();
    await page.getByRole('list', { name: 'Top statuses' }).getByText('404').waitFor();
    await page.getByText('by 10 seconds').waitFor();
    const bandwidth = page.getByRole('region', { name: 'Bandwidth, 95th percentile' });
    await bandwidth.getByText(/^Last month \(\d{4}-\d\d\)$/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `${console.domainId}-requests-minute.csv`);
    const [head, ...rows] = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.match(head ?? '', /^\u{feff}Time \(.+\),5xx,4xx,3xx,2xx$/u);
    assert.equal(rows.length, 60);
    assert.equal(
      rows.reduce((sum, row) => sum + Number(row.split(',')[2]), 0),
      1,
    );
    await page.getByRole('combobox', { name: 'Compare' }).selectOption({ label: 'With a week before' });
    await page.getByRole('columnheader', { name: 'Total, a week before' }).waitFor();
  });

  await t.test('a part of the chart that is marked is looked at closer, and its address says so', async (t) => {
    const page = await openSignedIn(t, console, '/console/statistics');
    const chart = page.locator('.u-over');
    await chart.waitFor();
    const { x, y, width } = (await chart.boundingBox()) ?? assert.fail('the chart is not shown');
    await page.mouse.move(x + width / 2, y + 50);
    await page.mouse.down();
    await page.mouse.move(x + (width * 3) / 4, y + 60, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=\d+&to=\d+/);
    await page.getByRole('button', { name: 'Back to 24 hours' }).click();
    await page.getByRole('button', { name: 'Last 24 hours' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a time' });
    await dialog.getByLabel('From').fill('2026-01-31T12:00');
    await dialog.getByLabel('To', { exact: true }).fill('2026-01-30T12:00');
    await dialog.getByText('The end has to be after the beginning').waitFor();
    await dialog.getByRole('button', { name: '7 days' }).click();
    await page.waitForURL(/range=7d/);
  });

  await t.test('a log is followed with a filter, and a line opens with all of its fields', async (t) => {
    const page = await openSignedIn(t, console, `/console/logs?view=tail&domain=${DOMAIN}`);
    await page.getByLabel('Status').fill('404');
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByText('Waiting for requests…').waitFor();
    await eventually('a line is shown', async () => {
      await console.get('/a.txt');
      await console.get('/missing?x=1');
      return (await page.getByText('/missing?x=1').count()) > 0;
    });
    assert.equal(await page.getByText('/a.txt').count(), 0);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page
      .getByRole('row', { name: /missing/ })
      .first()
      .getByRole('button')
      .click();
    const dialog = page.getByRole('dialog', { name: 'All fields of the line' });
    await dialog.getByText('127.0.0.1', { exact: true }).waitFor();
    await dialog.getByRole('link', { name: 'Explain this request' }).click();
    await page.getByRole('heading', { level: 1, name: DOMAIN }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('url'), `http://${DOMAIN}/missing?x=1`);
  });

  await t.test('the files of a log can be downloaded', async (t) => {
    await eventually('there is a file', async () => {
      const { logfiles } = await client.call('log.list', { domain: DOMAIN });
      return logfiles.length > 0;
    });
    const page = await openSignedIn(t, console, `/console/logs?domain=${DOMAIN}`);
    const link = page.getByRole('link', { name: /^www\.example\.com_.*\.log\.gz$/ });
    const answer = await fetch((await link.getAttribute('href')) ?? '');
    assert.equal(answer.status, 200);
    await answer.body?.cancel();
  });

  await t.test('a filter that the service refuses is explained', async (t) => {
    const page = await openSignedIn(t, console, `/console/logs?view=tail&domain=${DOMAIN}`);
    await page.getByLabel('Status').fill('often');
    await page.getByRole('button', { name: 'Follow' }).click();
    await page
      .getByRole('alert')
      .getByText(/filter\[status\]/)
      .waitFor();
    await page.getByRole('button', { name: 'Follow' }).waitFor();
  });

  await t.test('the audit has every change with what was different, and can be filtered', async (t) => {
    await client.call('domain.change', { domain_id: console.domainId, set: { advanced: { expires: '60' } } });
    const page = await openSignedIn(t, console, '/console/audit');
    await page.getByRole('row', { name: /domain\.change/ }).click();
    const dialog = page.getByRole('dialog', { name: /^Change \d+$/ });
    await dialog.getByText('advanced.expires').waitFor();
    assert.match((await dialog.locator('ins').textContent()) ?? '', /60/);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('combobox', { name: 'Target' }).selectOption({ label: 'certificate' });
    await page.getByRole('link', { name: 'certificate.delete' }).waitFor();
    await page.getByRole('link', { name: 'domain.change' }).waitFor({ state: 'hidden' });
    assert.equal(new URL(page.url()).searchParams.get('target_kind'), 'certificate');
  });
});
