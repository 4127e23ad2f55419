/** Services that share one PostgreSQL: their common work, settings and clocks that keep one from it, and leaving. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, runProcess, startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
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
    'a service whose clock is 20 s ahead is not ready and takes no lease, also when nobody else holds it',
    needs('faketime'),
    async (t) => {
      const settings = await sharedSettings(t);
      const right = await startService(t, { settings });
      const wrong = await startService(t, {
        settings: { ...settings, LD_PRELOAD: obtain('faketime'), FAKETIME: '+20s' },
      });
      await eventually('its clock is compared', async () => (await ready(wrong)) === 503);
      const [aheadSeconds = 0] = await metric(wrong, 'causeway_database_clock_ahead_seconds');
      assert.ok(Math.abs(aheadSeconds - 20) < 2, String(aheadSeconds));
      assert.match(wrong.process.stderr(), /the clock of this machine is wrong by that of the database/);
      const held = async (service: RunningService) => (await metric(service, 'causeway_lease_held')).length;
      assert.deepEqual([await held(right), await held(wrong), await ready(right)], [2, 0, 200]);
      assert.equal(await right.stop(), 0);
      await eventually('it is alone', async () => (await metric(wrong, 'causeway_controls'))[0] === 1);
      assert.deepEqual([await held(wrong), await ready(wrong)], [0, 503]);
    },
  );
});
