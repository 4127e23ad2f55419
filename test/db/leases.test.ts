/** Leases and controls as rows, on both engines; and controls that join one PostgreSQL. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Db, openDatabase } from '#db/open.ts';
import { joinControls, type LeaseTimes, type OpenControls } from '#db/peers/join.ts';
import { listControls, pruneControls, recordControl, removeControl } from '#db/tables/controls.ts';
import { LeaseEnded, listLeases, releaseLeases, requireLease, takeLeases } from '#db/tables/leases.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import type { ControlFacts } from '#model/control.ts';
import { type DatabaseTarget, describeOnBothEngines, newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startRelay } from '../support/relay.ts';
import { needs } from '../support/runner/needs.ts';

const log = createLogger({ level: 'silent', name: 'test' });
const MINUTE_MS = 60_000;

const FACTS: ControlFacts = {
  build: '1.0.0',
  schema: '0029-controls',
  logStore: 'shared',
  keys: { k: '1' },
  newestKey: 'k',
  cnameSuffix: 'cdn.example',
  timeZone: 'UTC',
  domainStatusAs: 'int',
};

async function open(t: TestContext, target: DatabaseTarget): Promise<Db> {
  const db = await openDatabase({ ...target, log });
  t.after(() => db[Symbol.asyncDispose]());
  return db;
}

describeOnBothEngines('leases', (newDatabase) => {
  test('a lease is taken by one holder, kept by renewing, and taken by another one when it has ended', async (t) => {
    const db = await open(t, await newDatabase(t));
    const now = systemClock();
    const take = (holder: string, names: readonly string[], leaseMs = MINUTE_MS) =>
      takeLeases(db.query, names, { holder, now, leaseMs });
    assert.deepEqual(await take('a', ['y', 'x']), ['x', 'y']);
    assert.deepEqual(await take('b', ['x', 'y', 'z']), ['z'], 'the others are held');
    assert.deepEqual(await take('a', ['x']), ['x'], 'renewed');
    assert.deepEqual(await take('a', ['x'], -MINUTE_MS), ['x'], 'which ends it');
    const stored = async () =>
      (await listLeases(db.query, now)).map(({ name, holder, isLive }) => [name, holder, isLive]);
    assert.deepEqual((await stored()).toSorted(), [
      ['x', 'a', false],
      ['y', 'a', true],
      ['z', 'b', true],
    ]);
    assert.deepEqual(await take('b', ['x', 'y']), ['x']);
    await releaseLeases(db.query, 'a');
    assert.deepEqual(await take('b', ['y']), ['y']);
    assert.deepEqual(await take('b', []), []);
  });

  test('a process whose clock is 20 s off takes no lease from its holder on PostgreSQL, and keeps its own', async (t) => {
    const db = await open(t, await newDatabase(t));
    if (db.engine === 'sqlite') return; // it has no clock but that of its only process
    const now = systemClock();
    for (const offMs of [-20_000, 20_000]) {
      const wrong = { now: now + offMs, leaseMs: 10_000 };
      assert.deepEqual(await takeLeases(db.query, ['x'], { holder: 'a', now, leaseMs: 10_000 }), ['x']);
      assert.deepEqual(await takeLeases(db.query, ['x'], { holder: 'b', ...wrong }), []);
      assert.deepEqual(await takeLeases(db.query, ['y'], { holder: 'b', ...wrong }), ['y']);
      const live = (await listLeases(db.query, now + offMs)).filter(({ isLive }) => isLive).map(({ name }) => name);
      assert.deepEqual(live.toSorted(), ['x', 'y']);
      await db.transaction((trx) => requireLease(trx, 'y', { holder: 'b', now: now + offMs }));
      await releaseLeases(db.query, 'b');
    }
  });

  test('a transaction under a lease that has ended, or is held by another, stores nothing', async (t) => {
    const db = await open(t, await newDatabase(t));
    const now = systemClock();
    await takeLeases(db.query, ['x'], { holder: 'a', now, leaseMs: MINUTE_MS });
    await takeLeases(db.query, ['over'], { holder: 'a', now, leaseMs: -MINUTE_MS });
    const under = (name: string, holder: string) =>
      db.transaction(async (trx) => {
        await requireLease(trx, name, { holder, now });
        await takeLeases(trx, [`by ${holder}`], { holder, now, leaseMs: MINUTE_MS });
      });
    await under('x', 'a');
    for (const [name, holder] of [
      ['x', 'b'],
      ['over', 'a'],
      ['none', 'a'],
    ] as const)
      await assert.rejects(under(name, holder), LeaseEnded, `${name} of ${holder}`);
    assert.deepEqual((await listLeases(db.query, now)).map(({ name }) => name).toSorted(), ['by a', 'over', 'x']);
  });

  test('controls see each other for 15 s after they were seen, and their rows go after a day', async (t) => {
    const db = await open(t, await newDatabase(t));
    const now = systemClock();
    const own = { startedAt: now, facts: FACTS, connectorsUp: [3], connectors: [], now };
    for (const id of ['a', 'b', 'c']) await recordControl(db.query, { ...own, id });
    await recordControl(db.query, { ...own, id: 'a', connectorsUp: [3, 4] });
    const age = (id: string, ms: number) =>
      db.query
        .updateTable('control')
        .set({ seen_at: now - ms })
        .where('id', '=', id)
        .execute();
    await age('b', 16_000);
    const seen = async () => (await listControls(db.query, now)).map(({ id, connectorsUp }) => [id, connectorsUp]);
    assert.deepEqual(await seen(), [
      ['a', [3, 4]],
      ['c', [3]],
    ]);
    assert.deepEqual((await listControls(db.query, now))[0]?.facts, FACTS);
    await age('b', 25 * 3_600_000);
    await pruneControls(db.query, now);
    await removeControl(db.query, 'c');
    assert.deepEqual(
      (await db.query.selectFrom('control').select('id').execute()).map(({ id }) => id),
      ['a'],
    );
  });
});

/** Short, and long enough for a crowded machine. */
const TIMES: LeaseTimes = { leaseMs: 2_500, renewMs: 300, retryMs: 100, holdMs: 2_000 };

function join(t: TestContext, db: Db, id: string, facts: Partial<ControlFacts> = {}): Promise<OpenControls> {
  const joining = joinControls({ db, id, facts: () => ({ ...FACTS, ...facts }), log, times: TIMES });
  t.after(() => joining.then((peers) => peers[Symbol.asyncDispose]()).catch(() => undefined));
  return joining;
}

const X = [{ name: 'x', holders: 1 }];

test(
  'two controls see each other, one holds the lease, and the other takes it when the first leaves',
  needs('postgres'),
  async (t) => {
    const target = await newPostgres(t);
    const [a, b] = [await join(t, await open(t, target), 'a'), await join(t, await open(t, target), 'b')];
    await eventually('they see each other', () => a.seen === 2 && b.seen === 2);
    a.want('work', X);
    await eventually('the first holds it', () => a.holds('x'));
    b.want('work', X);
    let changes = 0;
    b.onChange(() => {
      changes += 1;
    });
    a.noteConnectorsUp([7]);
    await eventually('the second knows of the connector', () => b.isUpElsewhere(7));
    assert.equal(b.holds('x'), false);
    await a[Symbol.asyncDispose]();
    await eventually('the second holds it', () => b.holds('x'));
    await eventually('the first is not seen', () => b.seen === 1 && !b.isUpElsewhere(7));
    assert.ok(changes > 0);
  },
);

test(
  'a control that cannot reach the database gives up its leases before another one takes them',
  needs('postgres'),
  async (t) => {
    const target = await newPostgres(t);
    const relay = await startRelay(target.url ?? '');
    t.after(() => relay[Symbol.asyncDispose]());
    const a = await join(t, await open(t, { ...target, url: relay.url }), 'a');
    const b = await join(t, await open(t, target), 'b');
    a.want('work', X);
    await eventually('the first holds it', () => a.holds('x'));
    b.want('work', X);
    let both = 0;
    const notify = () => {
      if (a.holds('x') && b.holds('x')) both += 1;
    };
    a.onChange(notify);
    b.onChange(notify);
    relay.freeze();
    await eventually('the second holds it', () => b.holds('x'));
    assert.equal(a.holds('x'), false);
    assert.equal(both, 0);
    relay.cut();
    relay.mend();
    await eventually('the first is there again', () => a.seen === 2 && b.seen === 2);
    assert.deepEqual([a.holds('x'), b.holds('x')], [false, true]);
  },
);

test(
  'work under a lease is done by its holder only, and nothing of it is stored once another one holds it',
  needs('postgres'),
  async (t) => {
    const target = await newPostgres(t);
    const db = await open(t, target);
    const [a, b] = [await join(t, db, 'a'), await join(t, await open(t, target), 'b')];
    a.want('work', X);
    await eventually('the first holds it', () => a.holds('x'));
    const done: string[] = [];
    await b.underLease('x', db, async () => void done.push('b'));
    await a.underLease('x', db, async (leased) => {
      await leased.transaction(async () => void done.push('a'));
      await db.query.updateTable('lease').set({ holder: 'b' }).execute();
      await leased.transaction(async () => void done.push('a too late'));
    });
    assert.deepEqual(done, ['a']);
    await db.query.updateTable('lease').set({ holder: 'a' }).execute();
    await a.underLease('x', db, (leased) =>
      leased.transaction(async (trx) => {
        await takeLeases(trx, ['by a'], { holder: 'a', now: 0, leaseMs: MINUTE_MS });
        // As when the process stands still here for longer than its lease lasts.
        await db.query.updateTable('lease').set({ holder: 'b' }).where('name', '=', 'x').execute();
      }),
    );
    assert.deepEqual(
      (await listLeases(db.query, 0)).map(({ name }) => name),
      ['x'],
      'what it had begun is not stored',
    );
    b.want('work', X);
    await eventually('the second holds it', () => b.holds('x'));
    const failing = b.underLease('x', db, async () => assert.fail('it failed'));
    await assert.rejects(failing, /it failed/, 'another error is not taken for a lost lease');
  },
);

test(
  'a control with other settings is refused by name, and not because of one that has ended',
  needs('postgres'),
  async (t) => {
    const target = await newPostgres(t);
    const db = await open(t, target);
    await recordControl(db.query, {
      id: 'gone',
      startedAt: 0,
      facts: { ...FACTS, timeZone: 'Asia/Tokyo' },
      connectorsUp: [],
      connectors: [],
      now: 0,
    });
    // It is not seen any more within two seconds.
    await db.query
      .updateTable('control')
      .set((e) => ({ seen_at: e('seen_at', '-', 13_000) }))
      .execute();
    const a = await join(t, db, 'a');
    await assert.rejects(join(t, await open(t, target), 'b', { timeZone: 'Asia/Shanghai' }), {
      message: 'cannot share the database with another control (setting time-zone): it is Asia/Shanghai, and UTC there',
    });
    await eventually('it is not seen', () => a.seen === 1);
  },
);

test('a control that knows fewer migrations than another one takes no more work', needs('postgres'), async (t) => {
  const target = await newPostgres(t);
  const a = await join(t, await open(t, target), 'a');
  a.want('work', X);
  await eventually('it holds the lease', () => a.holds('x'));
  const b = await join(t, await open(t, target), 'b', { schema: '9999-next', build: '1.1.0' });
  b.want('work', X);
  await eventually('the newer one holds it', () => b.holds('x'));
  assert.deepEqual([a.mayClaim, a.holds('x'), a.obstacle, b.mayClaim], [false, false, undefined, true]);
});

test('a control that stops is not ready from then on', needs('postgres'), async (t) => {
  const a = await join(t, await open(t, await newPostgres(t)), 'a');
  assert.equal(a.obstacle, undefined);
  a.announceStop();
  assert.equal(a.obstacle, 'the service is stopping');
});
