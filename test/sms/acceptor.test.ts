/** Requests that are accepted together: how many transactions, what a fault does to the others, and two processes at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { LostConnection } from '#db/engines/postgres/lost-connections.ts';
import type { Db } from '#db/open.ts';
import { ALONE } from '#db/peers/peers.ts';
import { findSmsAppsById } from '#db/tables/sms/apps.ts';
import { createLogger } from '#lib/logger.ts';
import type { Submission } from '#sms/accept.ts';
import { Acceptor, type WaitingSubmissions } from '#sms/acceptor.ts';
import { Dispatcher } from '#sms/dispatcher.ts';
import type { InboundEvent } from '#sms/inbound-events.ts';
import { Inbox } from '#sms/inbox.ts';
import { createSmsMetrics } from '#sms/metrics.ts';
import { createProcedures } from '#sms/procedures.ts';
import { RouteTable } from '#sms/route.ts';
import { type DatabaseTarget, describeOnBothEngines, newPostgres, newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, readParts } from '../support/sms/sms-queue.ts';

const NOW = Date.UTC(2026, 0, 31, 4);

async function openAccount(db: Db, balance: number) {
  const account = await openSmsAccount(db, { balance, now: NOW });
  const [app] = await findSmsAppsById(db.query, [account.appId]);
  assert.ok(app !== undefined);
  return (n: number, changed: Partial<Submission> = {}): Submission => ({
    accountId: account.accountId,
    appKey: app.appKey,
    kind: 'ordinary',
    smsType: 1,
    mobile: '13800138000',
    content: `message+${n}`,
    replayHash: `hash ${n}`,
    sendid: `sendid ${n}`,
    now: NOW,
    ...changed,
  });
}

test('requests that arrive while a transaction runs share the next one', async (t) => {
  const db = await openSmsDatabase(await newSqlite(t));
  t.after(() => db[Symbol.asyncDispose]());
  const submission = await openAccount(db, 1000);
  let transactions = 0;
  const counted: Db = {
    ...over(db),
    transaction: (work) => {
      transactions += 1;
      return db.transaction(work);
    },
  };
  const acceptor = new Acceptor({ db: counted, maxWaiting: 1000, onAccepted: () => undefined });
  const verdicts = await Promise.all(Array.from({ length: 300 }, (_, n) => acceptor.submit(submission(n))));
  assert.ok(verdicts.every(({ kind }) => kind === 'accepted'));
  assert.equal(transactions, 2, '256 and 44');
  assert.equal((await readParts(db)).length, 300);
  await checkMoney(db);
});

test('accounts take turns, and none takes all places', async (t) => {
  const db = await openSmsDatabase(await newSqlite(t));
  t.after(() => db[Symbol.asyncDispose]());
  const [many, one] = [await openAccount(db, 1000), await openAccount(db, 1000)];
  const batches: number[][] = [];
  const counted: Db = { ...over(db), transaction: (work) => db.transaction(work) };
  const acceptor = new Acceptor({ db: counted, maxWaiting: 600, onAccepted: () => undefined });
  const flood = Array.from({ length: 301 }, (_, n) => acceptor.submit(many(n)));
  const other = acceptor.submit(one(0, { sendid: 'of the other' }));
  const taken = acceptor.take();
  batches.push(taken.submissions.map(({ accountId }) => accountId));
  assert.deepEqual([await flood[300], taken.submissions.length], [{ kind: 'queueFull' }, 256]);
  assert.notEqual(batches[0]?.[0], batches[0]?.[1], 'the only one of the other account comes second');
  taken.fail(new Error('for nothing'));
  assert.equal((await other).kind, 'accepted');
  const verdicts = await Promise.all(flood.slice(0, 300));
  assert.ok(verdicts.every(({ kind }) => kind === 'accepted'));
  await checkMoney(db);
});

test('requests that wait behind a query without an answer are refused with it, and not behind another failure', async (t) => {
  const db = await openSmsDatabase(await newSqlite(t));
  t.after(() => db[Symbol.asyncDispose]());
  const submission = await openAccount(db, 1000);
  const failure = new LostConnection('the database server does not answer');
  const held: WaitingSubmissions[] = [];
  const offer = (waiting: WaitingSubmissions) => held.push(waiting) > 0;
  const acceptor = new Acceptor({ db, maxWaiting: 1000, onAccepted: () => undefined, offer });
  const submit = (...numbers: readonly number[]) =>
    Promise.allSettled(numbers.map((n) => acceptor.submit(submission(n))));
  const statuses = async (settled: ReturnType<typeof submit>) => (await settled).map(({ status }) => status);
  const first = submit(1, 2);
  held[0]?.acceptAlone(new Error('a deadlock'));
  assert.deepEqual(await statuses(first), ['fulfilled', 'fulfilled']);
  const second = submit(3, 4);
  held[0]?.acceptAlone(failure);
  assert.deepEqual(await statuses(second), ['rejected', 'rejected']);
  const third = submit(5);
  const batch = held[0]?.take();
  const fourth = submit(6, 7);
  batch?.fail(failure);
  assert.deepEqual(await statuses(third), ['rejected']);
  assert.deepEqual(await statuses(fourth), ['rejected', 'rejected']);
  assert.equal((await readParts(db)).length, 2);
});

test('a request that fails by a fault of ours fails alone', async (t) => {
  const db = await openSmsDatabase(await newSqlite(t));
  t.after(() => db[Symbol.asyncDispose]());
  const submission = await openAccount(db, 1000);
  const acceptor = new Acceptor({ db, maxWaiting: 1000, onAccepted: () => undefined });
  const taken = submission(1, { replayHash: 'other', sendid: 'sendid 0' });
  await acceptor.submit(submission(0));
  // The serial number is there already, which cannot be.
  const settled = await Promise.allSettled([taken, submission(2), submission(3)].map((one) => acceptor.submit(one)));
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
  assert.equal((await readParts(db)).length, 3);
  await checkMoney(db);
});

test('the next round starts on SQLite before the requests of the last one are answered, if many wait', async (t) => {
  const db = await openSmsDatabase(await newSqlite(t));
  t.after(() => db[Symbol.asyncDispose]());
  const submission = await openAccount(db, 1000);
  const events: string[] = [];
  const submit = async (n: number) => {
    await acceptor.submit(submission(n));
    events.push(`answered ${n}`);
  };
  let others: Promise<unknown> | undefined;
  const watched: Db = {
    ...over(db),
    transaction: (work) => {
      events.push('begun');
      return db.transaction(async (trx) => {
        const done = await work(trx);
        others ??= Promise.all(Array.from({ length: 20 }, (_, n) => submit(n + 1))); // while the first one's round runs
        return done;
      });
    },
  };
  await using dispatcher = new Dispatcher({
    ...{ db: watched, procedures: createProcedures(), inbox: new Inbox<InboundEvent>(() => undefined) },
    ...{ clock: () => NOW, random: () => 0, owner: 'test', chargeAt: 'submit', pollMs: 500 },
    ...{ peers: ALONE, lines: () => [], routes: () => new RouteTable([]) },
    log: createLogger({ level: 'silent', name: 'test' }),
    metrics: createSmsMetrics(new Registry(), { lines: () => [] }),
  });
  const acceptor = new Acceptor({
    ...{ db: watched, maxWaiting: 1000, onAccepted: () => undefined },
    offer: (waiting) => dispatcher.offer(waiting),
  });
  await submit(0);
  await others;
  assert.deepEqual(events.slice(0, 4), ['begun', 'begun', 'answered 0', 'answered 1']);
  assert.equal(events.length, 23, 'two rounds, 21 answers');
});

describeOnBothEngines('requests of one transaction', (newDatabase) => {
  test('requests of one transaction each get their own verdict, and the balance lasts for as many as it pays', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    t.after(() => db[Symbol.asyncDispose]());
    const submission = await openAccount(db, 5);
    let [transactions, rounds] = [0, 0];
    const transaction: Db['transaction'] = (work) => {
      transactions += 1;
      return db.transaction(work);
    };
    const onAccepted = () => {
      rounds += 1;
    };
    const acceptor = new Acceptor({ db: { ...over(db), transaction }, maxWaiting: 1000, onAccepted });
    const long = encodeURIComponent('短'.repeat(80));
    const asked: readonly [Partial<Submission>, string][] = [
      [{ content: long }, 'accepted sendid 0'],
      [{ appKey: 'nobody’s' }, 'appUnknown'],
      [{ content: '%' }, 'contentInvalid'],
      [{ replayHash: 'hash 0' }, 'accepted sendid 0'],
      [{ mobile: '123' }, 'numberInvalid'],
      [{ content: long }, 'accepted sendid 5'],
      [{ content: long }, 'balanceTooLow'],
      [{}, 'accepted sendid 7'],
      [{}, 'balanceTooLow'],
      [{ replayHash: 'hash 8' }, 'balanceTooLow'],
    ];
    const verdicts = await Promise.all(asked.map(([changed], n) => acceptor.submit(submission(n, changed))));
    assert.deepEqual(
      verdicts.map((verdict) => (verdict.kind === 'accepted' ? `accepted ${verdict.sendid}` : verdict.kind)),
      asked.map(([, verdict]) => verdict),
    );
    assert.deepEqual([transactions, rounds], [1, 1]);
    const messages = await db.query.selectFrom('sms_message').select(['parts', 'reference']).orderBy('id').execute();
    assert.deepEqual(
      messages.map(({ parts, reference }) => [parts, reference]),
      [
        [2, 0],
        [2, 1],
        [1, 0],
      ],
    );
    await checkMoney(db);
  });

  test('requests of one transaction are all refused if it cannot be committed, and nothing of them is kept', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    t.after(() => db[Symbol.asyncDispose]());
    const submission = await openAccount(db, 5);
    const away = Object.assign(new Error('disk I/O error'), { errcode: 10 });
    let isAway = true;
    const transaction: Db['transaction'] = (work) =>
      db.transaction(async (trx) => {
        const result = await work(trx);
        if (isAway) throw away;
        return result;
      });
    const acceptor = new Acceptor({ db: { ...over(db), transaction }, maxWaiting: 1000, onAccepted: assert.fail });
    const settled = await Promise.allSettled([0, 1, 2].map((n) => acceptor.submit(submission(n))));
    assert.deepEqual(
      settled.map((one) => one.status === 'rejected' && one.reason),
      [away, away, away],
    );
    assert.equal((await readParts(db)).length, 0);
    isAway = false;
    const again = new Acceptor({ db, maxWaiting: 1000, onAccepted: () => undefined });
    assert.deepEqual(await again.submit(submission(1, { sendid: 'again' })), { kind: 'accepted', sendid: 'again' });
    await checkMoney(db);
  });
});

describe('two processes on one database', needs('postgres'), () => {
  test('two processes on one database accept a request once, and spend the last of the balance once', async (t) => {
    const target: DatabaseTarget = await newPostgres(t);
    const dbs = [await openSmsDatabase(target), await openSmsDatabase(target)] as const;
    t.after(() => Promise.all(dbs.map((db) => db[Symbol.asyncDispose]())));
    const submission = await openAccount(dbs[0], 70);
    const acceptors = dbs.map((db) => new Acceptor({ db, maxWaiting: 1000, onAccepted: () => undefined }));
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        acceptors.map((acceptor, of) => acceptor.submit(submission(n, { sendid: `sendid ${n} of ${of}` }))),
      ).flat(),
    );
    const sendids = verdicts.map((verdict) => (verdict.kind === 'accepted' ? verdict.sendid : ''));
    for (let n = 0; n < 50; n += 1) assert.equal(sendids[2 * n], sendids[2 * n + 1]);
    assert.equal(new Set(sendids).size, 50);
    const more = await Promise.all(Array.from({ length: 40 }, (_, n) => acceptors[n % 2]?.submit(submission(100 + n))));
    assert.equal(more.filter((verdict) => verdict?.kind === 'accepted').length, 20);
    assert.equal((await readParts(dbs[0])).length, 70);
    await checkMoney(dbs[0]);
  });
});

/** The database with members that may be replaced. */
function over(db: Db): Db {
  return {
    engine: db.engine,
    clock: db.clock,
    compareClock: (ask) => db.compareClock(ask),
    query: db.query,
    lookUps: db.lookUps,
    transaction: (work) => db.transaction(work),
    snapshot: (work) => db.snapshot(work),
    onPublish: (listener) => db.onPublish(listener),
    onMessage: (listener) => db.onMessage(listener),
    tellControls: (message) => db.tellControls(message),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
