/** Controls side by side: PostgreSQL promoted by hand under load, and the holder of a carrier's session killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { failOver, sellBy, sharedSettings } from '../support/process/fail-over.ts';
import { startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { startSmsc } from '../support/sms/smsc.ts';

const PROMOTIONS = 20;
const MINUTES = 60_000;
const MESSAGES = 400;
/** A window of parts whose answer was on its way when the process ended: those are not sent again. */
const IN_DOUBT = 10;

test(
  'PostgreSQL with synchronous replication is promoted twenty times: nothing acknowledged is lost, nothing sent twice',
  needs('postgresPrograms', 'netSmpp', { timeout: 30 * MINUTES }),
  async (t) => {
    const figures = await failOver(t, { rounds: PROMOTIONS, isSynchronous: true });
    t.diagnostic(JSON.stringify(figures));
    assert.deepEqual([figures.lost, figures.sentTwice], [0, 0]);
  },
);

test(
  'PostgreSQL with asynchronous replication is promoted: balance and ledger agree, and edges are at the head',
  needs('postgresPrograms', 'netSmpp', { timeout: 30 * MINUTES }),
  async (t) => {
    t.diagnostic(JSON.stringify(await failOver(t, { rounds: 5, isSynchronous: false })));
  },
);

test(
  'a service that holds the only session with a carrier is killed: another one binds within 15 s, and the rate holds',
  needs('postgres', 'netSmpp', { timeout: 10 * MINUTES }),
  async (t) => {
    const { url = '' } = await newPostgres(t);
    const settings = { ...sharedSettings(t, url), CAUSEWAY_ROLES: 'control' };
    const smsc = await startSmsc(t, { single: true });
    const first = await startService(t, { settings });
    const operator = createClient({ baseUrl: first.controlUrl, accessToken: first.token });
    const RATE = 20;
    const app_key = await sellBy(operator, smsc, RATE);
    const binds = () => smsc.events.filter(({ event, status }) => event === 'bind' && status === 0).length;
    await eventually('the first is bound', () => binds() === 1);
    const second = await startService(t, { settings });
    const send = (n: number) => {
      const mobile = `138${String(n).padStart(8, '0')}`;
      return operator.call('sms.ordinary', { app_key, mobile, content: `load ${n}`, time: String(Date.now()) });
    };
    await Promise.all(Array.from({ length: MESSAGES }, (_, n) => send(n)));
    const samples: { readonly at: number; readonly count: number }[] = [];
    const sampling = setInterval(() => samples.push({ at: performance.now(), count: smsc.submits().length }), 100);
    t.after(() => clearInterval(sampling));
    await eventually('some are sent', () => smsc.submits().length > 50);
    const killedAt = performance.now();
    for (const pid of [...Object.values(first.pids()), first.process.child.pid ?? 0]) process.kill(pid, 'SIGKILL');
    await eventually('the other is bound', () => binds() === 2);
    const takenMs = performance.now() - killedAt;
    await eventually('all are sent', () => smsc.submits().length >= MESSAGES - IN_DOUBT, 120_000);
    const rates = samples.flatMap((sample, n) => {
      const earlier = samples.slice(0, n).findLast(({ at }) => at <= sample.at - 3_000);
      return earlier === undefined ? [] : [((sample.count - earlier.count) * 1000) / (sample.at - earlier.at)];
    });
    const highest = Math.max(...rates);
    const to = smsc.submits().map((submit) => submit.to);
    t.diagnostic(
      JSON.stringify({ takenMs: Math.round(takenMs), highestRate: highest, twice: to.length - new Set(to).size }),
    );
    assert.ok(takenMs < 15_000, String(takenMs));
    assert.ok(highest <= RATE * 1.25, String(highest));
    assert.equal(to.length, new Set(to).size);
    assert.equal(await second.stop(), 0);
  },
);
