/** A clock that was ahead and is put right: no order of a certificate waits longer for it. docs/decisions/0467 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { correctOrder, correctOrders } from '#acme/clock-back.ts';
import { addDomain } from '#api/settings/change.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { askForCertificate, claimOrders, findOrder, saveOrder } from '#db/tables/certificate-orders.ts';
import { listEdges, recordEdgeStatus } from '#db/tables/edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { createLogger } from '#lib/logger.ts';
import { type CertificateOrder, NEVER_AT } from '#model/certificate-order.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { startAcmeWorld } from '../support/certificates/acme.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';
import { openSmsDatabase } from '../support/sms/sms-queue.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 0, 31, 12);
const BOUND = needs('pebble', 'openssl', { timeout: 180_000 });

const ORDER: CertificateOrder = {
  ...{ domainId: 1, state: 'pending', detail: '', sslKey: '', issuedKey: '', url: '', privateKey: '', failures: 0 },
  ...{ dayBeganAt: NOW, dayOrders: 0, requestedAt: NOW, orderedAt: 0, dueAt: NOW, renewAt: 0 },
};

test('every wait of an order keeps its length when a clock was put back', () => {
  const served = { validFrom: NOW - 60 * DAY_MS, validTo: NOW + 30 * DAY_MS };
  const issued = { state: 'issued', renewAt: served.validTo - 30 * DAY_MS } as const;
  const window = { from: NOW + DAY_MS, to: NOW + 2 * DAY_MS };
  const rows: readonly [string, Partial<CertificateOrder>, number, Partial<CertificateOrder>][] = [
    ['a step that is due at once', { dueAt: NOW + HOUR_MS }, HOUR_MS, { dueAt: NOW }],
    ['a retry', { state: 'failed', dueAt: NOW + 3 * HOUR_MS }, HOUR_MS, { dueAt: NOW + 2 * HOUR_MS }],
    ['what the authority asks for', { dueAt: NOW + 8 * DAY_MS }, DAY_MS, { dueAt: NOW + 7 * DAY_MS }],
    ['what is given up', { state: 'failed', dueAt: NEVER_AT }, HOUR_MS, { dueAt: NEVER_AT }],
    ['a renewal', { ...issued, dueAt: NOW + 6 * HOUR_MS }, HOUR_MS, { dueAt: NOW + 5 * HOUR_MS }],
    ['one that was set too late', { ...issued, renewAt: NOW + 21 * DAY_MS }, 20 * DAY_MS, { renewAt: NOW + HOUR_MS }],
    [
      'one that the authority suggested',
      { ...issued, renewAt: NOW + 30 * HOUR_MS, renewalWindow: window },
      HOUR_MS,
      { renewAt: NOW + 30 * HOUR_MS },
    ],
  ];
  for (const [name, order, aheadMs, expected] of rows) {
    const corrected = correctOrder({ ...ORDER, ...order }, { writtenAt: NOW + aheadMs, now: NOW, served });
    const { dueAt, renewAt } = { ...ORDER, ...order, ...expected };
    if (expected.dueAt !== undefined) assert.equal(corrected.dueAt, dueAt, name);
    assert.equal(corrected.renewAt, renewAt, name);
  }
});

describeOnBothEngines('after a clock was put back', (newDatabase) => {
  test('orders become due, leases end, and the daily limit resets within a day after a clock was put back', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const logLines: string[] = [];
    const destination = { write: (line: string) => void logLines.push(line) };
    const log = createLogger({ level: 'warn', name: 'test', destination });
    const { id: accountId } = await createAccount(db.query, { name: 'a customer', kind: 'customer', now: NOW });
    const settings = { ...DEFAULT_SETTINGS, origins: ['127.0.0.1'] };
    const values = { accountId, type: 'static', state: 'open', createdAt: NOW, icpNumber: '', remark: '' } as const;
    const add = async (name: string) => (await addDomain(db, { ...values, name, settings }, 10, NOW)).id;
    const [waiting, held, right] = [await add('a.example'), await add('b.example'), await add('c.example')];
    const wrong = NOW + HOUR_MS;
    const ask = (domainId: number, now: number) =>
      db.transaction((trx) => askForCertificate(trx, { domainId, sslKey: '', now }));
    const take = async (now: number) => {
      const claim = { owner: 'w1', now, leaseUntil: now + 120_000, limit: 10 };
      return await db.transaction((trx) => claimOrders(trx, claim));
    };
    await ask(waiting, wrong);
    const [order] = await take(wrong);
    assert.ok(order !== undefined);
    const limited = { dayBeganAt: wrong, dayOrders: 5, orderedAt: wrong, dueAt: wrong + 300_000 };
    await saveOrder(db.query, { ...order, ...limited }, { owner: 'w1', now: wrong });
    await ask(held, wrong);
    assert.equal((await take(wrong)).length, 1);
    await ask(right, NOW);

    await correctOrders({ db, log, now: NOW, leaseMs: 120_000 });
    const corrected = await findOrder(db.query, waiting);
    assert.deepEqual(
      [corrected?.dueAt, corrected?.dayBeganAt, corrected?.orderedAt, corrected?.requestedAt],
      [NOW + 300_000, NOW, NOW, NOW],
    );
    assert.deepEqual([(await findOrder(db.query, right))?.dueAt, logLines.length], [NOW, 1]);
    assert.deepEqual(
      (await take(NOW + 119_999)).map(({ domainId }) => domainId),
      [right],
    );
    assert.deepEqual(
      (await take(NOW + 120_000)).map(({ domainId }) => domainId),
      [held],
      'its lease has ended',
    );
    await correctOrders({ db, log, now: NOW + 120_000, leaseMs: 120_000 });
    assert.equal(logLines.length, 1, 'once');
  });

  test('an edge that reported by a clock far ahead is not counted any more', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const at = await readConfigHead(db.query);
    const report = { edge: 'e1', at, appliedRevision: 0, rejected: [], build: 'test', startedAt: 0, origins: [] };
    await recordEdgeStatus(db.query, report, NOW + 30 * DAY_MS);
    assert.deepEqual(await listEdges(db.query, { now: NOW, withinMs: DAY_MS }), []);
    await recordEdgeStatus(db.query, report, NOW);
    assert.equal((await listEdges(db.query, { now: NOW, withinMs: DAY_MS })).length, 1);
  });

  test('a certificate that was asked for by a clock that was ahead arrives at once', BOUND, async (t) => {
    const world = await startAcmeWorld(t, newDatabase);
    await world.request();
    await world.round();
    world.now -= HOUR_MS;
    const began = world.now;
    assert.equal((await world.run()).state, 'issued');
    assert.ok(world.now - began < HOUR_MS / 2);
  });
});

test('a refused account is tried again in five minutes, whatever the clock is set to', BOUND, async (t) => {
  const macKey = randomBytes(48).toString('base64url');
  const world = await startAcmeWorld(t, newSqlite, { nonceReject: 0, externalAccounts: { 'kid-1': macKey } });
  world.binding = { keyId: 'kid-1', macKey: randomBytes(48).toString('base64url') };
  const work = await world.newWorker();
  await world.request();
  await work();
  const signUps = () => world.asked.filter((what) => what === 'POST sign-me-up').length;
  assert.equal(signUps(), 1);
  world.now -= HOUR_MS;
  world.putBackMs += HOUR_MS;
  world.now += 299_000;
  await work();
  assert.equal(signUps(), 1);
  world.now += 301_000;
  await work();
  assert.equal(signUps(), 2);
});
