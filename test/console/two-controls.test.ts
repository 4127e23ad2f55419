/** A browser behind HAProxy and two controls of one PostgreSQL: the one that holds its stream of hints is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { launchBrowser } from '../support/console/browser.ts';
import { buildConsole } from '../support/console/built-console.ts';
import { signIn } from '../support/console/signed-in.ts';
import { newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { sharedSettings } from '../support/process/controls-world.ts';
import { startHaproxy } from '../support/process/haproxy.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';

/** What a browser says of a proxy that has no server for a moment. */
const WHILE_ONE_IS_KILLED = [/Failed to load resource/, /ERR_/];

test(
  'a page goes on when the control with its stream is killed, and sees what is changed at the other one',
  needs('chromium', 'haproxy', 'postgres'),
  async (t) => {
    buildConsole();
    const browser = await launchBrowser(t, WHILE_ONE_IS_KILLED);
    const { url: databaseUrl = '' } = await newPostgres(t);
    const settings = { ...sharedSettings(t, databaseUrl), CAUSEWAY_CONSOLE: 'on' };
    const services = [await startService(t, { settings }), await startService(t, { settings })];
    const servers = services.map(({ controlUrl }) => ({ port: Number(new URL(controlUrl).port) }));
    const port = await startHaproxy(t, { mode: 'http', check: '/readyz', servers });
    const console = browser.at(`http://localhost:${port}`);
    const token = services.map((service) => service.token).find((text) => text !== '') ?? assert.fail('no token');
    const clientAt = ({ controlUrl }: RunningService) => createClient({ baseUrl: controlUrl, accessToken: token });
    const [first = assert.fail()] = services;
    const { domain_id } = await clientAt(first).call('domain.add', {
      domain: 'www.example.com',
      cdn_type: '1',
      data: '192.0.2.1',
    });

    const page = await console.open(`/console/domains/${domain_id}/advanced`);
    await signIn(page, token);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate('window.isTheSamePage = true');
    const [holder] = await eventually('one control has the stream', async () => {
      const counts = await Promise.all(services.map(countWatches));
      const holding = services.filter((_, n) => counts[n] === 1);
      return holding.length === 1 && holding;
    });
    const other = services.find((service) => service !== holder) ?? assert.fail();
    const isCompressed = (checked: boolean) =>
      page.getByRole('switch', { name: 'Compress texts', checked }).waitFor({ timeout: 60_000 });

    await clientAt(other).call('domain.change', { domain_id, set: { advanced: { page_compress: 1 } } });
    await isCompressed(true);

    holder?.process.child.kill('SIGKILL');
    await eventually('the other control has the stream', async () => (await countWatches(other)) === 1, 60_000);
    await clientAt(other).call('domain.change', { domain_id, set: { advanced: { page_compress: 0 } } });
    await isCompressed(false);
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 });
    await page.getByRole('link', { name: 'Revisions' }).click();
    await page.getByRole('table').first().waitFor();
    assert.equal(await page.evaluate('window.isTheSamePage'), true, 'nothing was loaded anew');
    browser.assertNoProblems();
  },
);

async function countWatches({ metricsUrl }: RunningService): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^causeway_api_watches(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1] ?? 0);
}
