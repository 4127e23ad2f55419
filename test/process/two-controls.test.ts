/** Services that share one PostgreSQL: their common work, settings and clocks that keep one from it, and leaving. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { clockOff } from '../support/fleet/machines.ts';
import { type RunningService, runCommand, runProcess, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Settings of services that share a database and a key ring. */
async function sharedSettings(t: TestContext): Promise<Readonly<Record<string, string>>> {
  const { url = '' } = await newPostgres(t);
  return {
    DATABASE_URL: url,
    CAUSEWAY_ROLES: 'control',
    CAUSEWAY_KEYRING: join(temporaryFolder(t), 'keyring'),
    CAUSEWAY_LOG_STORE_SHARED: 'true',
    CAUSEWAY_STOP_DELAY_SECONDS: '1',
  };
}

async function metric({ metricsUrl }: RunningService, name: string): Promise<readonly number[]> {
  const text = await (await fetch(metricsUrl)).text();
  return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value));
}

const ready = async ({ controlUrl }: RunningService) => (await fetch(`${controlUrl}/readyz`)).status;

describe('services on one PostgreSQL', needs('postgres'), () => {
  test('two services share the work, one with another time zone does not start, and one that stops is not ready before', async (t) => {
    const settings = await sharedSettings(t);
    const first = await startService(t, { settings });
    const second = await startService(t, { settings });
    await eventually('they see each other', async () =>
      [await metric(first, 'causeway_controls'), await metric(second, 'causeway_controls')].every(([n]) => n === 2),
    );
    const held = async (service: RunningService) => (await metric(service, 'causeway_lease_held')).length;
    await eventually('each piece of work is done by one', async () => (await held(first)) + (await held(second)) === 2);
    assert.deepEqual([await ready(first), await ready(second)], [200, 200]);
    const shown = await runCommand(t, ['fleet', 'status', '--data-dir', first.dataDir]);
    assert.match(shown.stdout, /^commits +not confirmed by a standby$/m);
    assert.equal(shown.stdout.match(/^[0-9a-f]{8} +\d+\.\d+\.\d+ /gm)?.length, 2, shown.stdout);
    assert.match(shown.stdout, /housekeeping/);

    const other = await runProcess(t, ['serve'], {
      settings: {
        ...settings,
        ...{ CAUSEWAY_TIME_ZONE: 'UTC', CAUSEWAY_DATA_DIR: join(temporaryFolder(t), 'data') },
        ...{ CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0', CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0' },
      },
    });
    assert.equal(other.code, 1);
    assert.match(other.stderr, /cannot share the database with another control \(setting time-zone\): it is UTC, and /);

    const stopping = first.stop();
    await eventually('it is not ready', async () => (await ready(first)) === 503);
    assert.equal(await stopping, 0);
    await eventually('the other does all the work', async () => (await held(second)) === 2);
    assert.deepEqual(await metric(second, 'causeway_controls'), [1]);
    assert.equal(await second.stop(), 0);
  });

  test(
    'a service whose clock is 20 s ahead or behind is not ready and takes no lease, also when nobody else holds it',
    needs('faketime'),
    async (t) => {
      const settings = await sharedSettings(t);
      const right = await startService(t, { settings });
      const held = async (service: RunningService) => (await metric(service, 'causeway_lease_held')).length;
      await eventually('the right one works', async () => (await held(right)) === 2);
      const offsets = [20, -20] as const;
      const wrong = await Promise.all(
        offsets.map((offset) =>
          startService(t, { settings: { ...settings, ...clockOff(`${offset > 0 ? '+' : ''}${offset}s`) } }),
        ),
      );
      for (const [n, service] of wrong.entries()) {
        await eventually('its clock is compared', async () => (await ready(service)) === 503);
        const [aheadSeconds = 0] = await metric(service, 'causeway_database_clock_ahead_seconds');
        assert.ok(Math.abs(aheadSeconds - (offsets[n] ?? 0)) < 2, String(aheadSeconds));
        assert.match(service.process.stderr(), /the clock of this machine is wrong by that of the database/);
        assert.equal(await held(service), 0);
      }
      assert.deepEqual([await held(right), await ready(right)], [2, 200]);
      assert.equal(await right.stop(), 0);
      for (const service of wrong) {
        await eventually('the right one is gone', async () => (await metric(service, 'causeway_controls'))[0] === 2);
        assert.deepEqual([await held(service), await ready(service)], [0, 503]);
      }
    },
  );
});
