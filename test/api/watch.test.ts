/** The stream of hints over HTTP, on both engines; two controls on one database. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ROUTES } from '#contract/routes.ts';
import { addEvent } from '#db/tables/events/events.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';
import { add, startWithCustomers } from '../support/api/customers.ts';
import { openWatch, type TestWatch } from '../support/api/watch.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';

/** The hints of these kinds, in short. */
function hintsIn({ events }: TestWatch, ...kinds: readonly string[]): readonly string[] {
  return events
    .filter(({ name }) => kinds.includes(name))
    .map(({ data }) => `${data['kind']} ${data['id']} ${data['hint']}`);
}

function names({ events }: TestWatch): readonly string[] {
  return events.map(({ name }) => name);
}

/** Waits until the check no longer throws. */
async function holds(check: () => void | Promise<void>): Promise<void> {
  await eventually('the check holds', async () => {
    await check();
    return true;
  });
}

async function startTwo(t: TestContext, newDatabase: NewDatabase) {
  const target = await newDatabase(t);
  const shared: NewDatabase = async () => target;
  return { first: await startWithCustomers(t, shared), second: await startTestApi(t, shared) };
}

describeOnBothEngines('streams of hints', (newDatabase) => {
  test('a change is a hint for its account and the operator, and for nobody else', async (t) => {
    const { api, me, other, mine, operate } = await startWithCustomers(t, newDatabase);
    const operator = await api.join('operator', ['operator']);
    const [own, theirs, all] = [
      await openWatch(t, api, me.accessToken),
      await openWatch(t, api, other.accessToken),
      await openWatch(t, api, operator.accessToken, { kinds: ['domain'] }),
    ];
    const id = await add(mine, 'a.example');
    await mine('domain.setRemark', { domain_id: id, remark: 'r' });
    const expected = [`domain ${id} domain.add`, `domain ${id} domain.setRemark`];
    await holds(() => assert.deepEqual(hintsIn(own, 'domain'), expected));
    await holds(() => assert.deepEqual(hintsIn(all, 'domain'), expected));
    const added = own.events.find(({ name }) => name === 'domain');
    assert.deepEqual(Object.keys(added?.data ?? {}), ['kind', 'id', 'revision', 'at', 'hint']);
    assert.match(added?.id ?? '', /^\d+-\d+$/);
    assert.equal(hintsIn(own, 'audit').length, 2, 'each row of the audit trail is a hint, too');
    await operate('operator.setDomainStatus', { account_id: me.accountId, domain_id: id, action: 'disable' });
    await holds(() => assert.equal(hintsIn(own, 'domain').length, 3));
    assert.deepEqual(names(theirs), ['ready']);
    assert.deepEqual(own.events[0]?.data, {
      watcher: own.events[0]?.data['watcher'],
      account_id: String(me.accountId),
      domain_ids: null,
      kinds: own.events[0]?.data['kinds'],
      ids: [],
      after: '',
    });
  });

  test('a stream has the kinds and ids that were asked for, and the domains that its token reaches', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const [one, two] = [await add(mine, 'one.example'), await add(mine, 'two.example')];
    const limited = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [Number(one)] });
    const ofToken = await openWatch(t, api, limited);
    const ofId = await openWatch(t, api, me.accessToken, { ids: [two], kinds: ['domain'] });
    const tasks = await openWatch(t, api, me.accessToken, { kinds: ['task'] });
    for (const domain_id of [two, one]) await mine('domain.setRemark', { domain_id, remark: 'r' });
    await mine('cache.purge', { domain_id: one });
    await holds(() => assert.deepEqual(hintsIn(tasks, 'task').length, 1));
    await holds(() => assert.deepEqual(names(ofToken), ['ready', 'domain']));
    assert.deepEqual(hintsIn(ofToken, 'domain'), [`domain ${one} domain.setRemark`]);
    assert.deepEqual(hintsIn(ofId, 'domain'), [`domain ${two} domain.setRemark`]);
    assert.deepEqual(names(tasks), ['ready', 'task']);
    for (const [request, field] of [
      [{ kinds: ['no'] }, 'kinds'],
      [{ kinds: 'domain' }, 'kinds'],
      [{ after: 'x' }, 'after'],
      [{ ids: Array.from({ length: 101 }, String) }, 'ids'],
    ] as const) {
      const { errorCode, body } = await mine('event.watch', request);
      assert.equal(errorCode, 'fieldInvalid');
      assert.match(String(body['info']), new RegExp(`field ${field}\\b`));
    }
  });

  test('an event of the service is a hint for the account that it concerns', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const operator = await api.join('operator', ['operator']);
    const own = await openWatch(t, api, me.accessToken, { kinds: ['event', 'edge'] });
    const all = await openWatch(t, api, operator.accessToken, { kinds: ['event', 'edge'] });
    const about = { at: api.now, actor: 'control', data: {} };
    const domain = { kind: 'domain', id: '7', name: 'a.example' } as const;
    await api.db.transaction(async (trx) => {
      await addEvent(trx, { ...about, kind: 'edge.away', target: { kind: 'edge', id: 'fra1', name: 'fra1' } });
      await addEvent(trx, { ...about, kind: 'origin.down', accountId: me.accountId, target: domain });
    });
    await holds(() => assert.deepEqual(names(own), ['ready', 'event']));
    await holds(() => assert.deepEqual(names(all).toSorted(), ['edge', 'event', 'event', 'ready']));
    assert.deepEqual(hintsIn(all, 'edge'), ['edge fra1 edge.away']);
  });

  test('an edge that applies or refuses a change is a hint', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    await api.acknowledge('one', 0);
    await api.acknowledge('two', 0);
    const watch = await openWatch(t, api, me.accessToken, { kinds: ['domain'] });
    const id = await add(mine, 'a.example');
    const arrived = `domain ${id} propagation`;
    await holds(() => assert.equal(hintsIn(watch, 'domain').length, 1));
    await api.acknowledge('one');
    await holds(() => assert.deepEqual(hintsIn(watch, 'domain').slice(1), [arrived]));
    await api.acknowledge('two', undefined, ['a.example']);
    await holds(() => assert.deepEqual(hintsIn(watch, 'domain').slice(1), [arrived, arrived]));
  });

  test('a stream goes on at another control from any id, and has a gap if that is of another database', async (t) => {
    const { first, second } = await startTwo(t, newDatabase);
    const { api, me, mine } = first;
    const before = await openWatch(t, api, me.accessToken, { kinds: ['domain'] });
    const one = await add(mine, 'one.example');
    await holds(() => assert.equal(hintsIn(before, 'domain').length, 1));
    const { id: after = '' } = before.events.at(-1) ?? {};
    before.close();
    const two = await add(mine, 'two.example');
    const next = await openWatch(t, second, me.accessToken, { kinds: ['domain'], after });
    await holds(() => assert.ok(hintsIn(next, 'domain').includes(`domain ${two} domain.add`)));
    const three = await add(mine, 'three.example');
    await holds(() => assert.ok(hintsIn(next, 'domain').includes(`domain ${three} domain.add`)));
    assert.ok(!names(next).includes('gap'));
    assert.ok(hintsIn(next, 'domain').filter((hint) => hint === `domain ${three} domain.add`).length === 1);
    const strange = await openWatch(t, second, me.accessToken, { after: '999999999-1' });
    await holds(() => assert.deepEqual(names(strange), ['ready', 'gap']));
    const old = await openWatch(t, second, me.accessToken, { kinds: ['domain'], after: '0-0' });
    await holds(() => assert.ok(hintsIn(old, 'domain').includes(`domain ${one} domain.add`)));
  });

  test('more than a thousand changes since the id are a gap', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const row = { kind: 'origin.up', accountId: me.accountId, at: api.now, actor: 'control', data: {} } as const;
    await api.db.transaction(async (trx) => {
      for (let n = 0; n < 1001; n++)
        await addEvent(trx, { ...row, target: { kind: 'domain', id: '1', name: 'a.example' } });
    });
    const watch = await openWatch(t, api, me.accessToken, { after: '0-0' });
    await holds(() => assert.deepEqual(names(watch), ['ready', 'gap']));
    const fewer = await openWatch(t, api, me.accessToken, { after: '0-1', kinds: ['event'] });
    await holds(() => assert.equal(hintsIn(fewer, 'event').length, 1000));
  });

  test('a stream ends with bye when its token is revoked or may do something else', async (t) => {
    const { api, me, operate } = await startWithCustomers(t, newDatabase);
    const [revoked, narrowed, kept] = [
      await api.issue(me.accountId, { scopes: ['cdn'] }),
      await api.issue(me.accountId, { scopes: ['cdn'] }),
      me.accessToken,
    ];
    const [one, two, three] = [
      await openWatch(t, api, revoked),
      await openWatch(t, api, narrowed),
      await openWatch(t, api, kept),
    ];
    const idOf = ({ events }: TestWatch) => String(events[0]?.data['watcher']).replace('token:', '');
    await operate('operator.revokeToken', { account_id: me.accountId, token_id: idOf(one) });
    await operate('operator.narrowToken', { account_id: me.accountId, token_id: idOf(two), access: ['write'] });
    const byeOf = ({ events }: TestWatch) => events.find(({ name }) => name === 'bye')?.data;
    await holds(() => assert.deepEqual(byeOf(one), { reason: 'tokenRevoked' }));
    await holds(() => assert.deepEqual(byeOf(two), { reason: 'accessMissing' }));
    await holds(() => assert.ok(one.isEnded && two.isEnded));
    assert.equal(three.isEnded, false);
    const refused = await api.call('event.watch', revoked, {});
    assert.deepEqual([refused.http, refused.errorCode], [200, 'tokenRevoked']);
  });

  test('a token has four streams at once, and the place of one that is closed', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const open = [];
    for (let n = 0; n < 4; n++) open.push(await openWatch(t, api, me.accessToken));
    const refused = await mine('event.watch', {});
    assert.deepEqual([refused.http, refused.errorCode], [429, 'watchesFull']);
    assert.match(String(refused.body['info']), /at most 4/);
    const others = await api.issue(me.accountId, { scopes: ['sms'] });
    assert.equal((await api.call('event.watch', others, {})).errorCode, undefined, 'another token has its own');
    await holds(async () => assert.equal(await watchesOf(api), 4));
    open[0]?.close();
    await holds(async () => assert.equal((await mine('event.watch', {})).errorCode, undefined));
  });

  test('control ends its streams when it stops, and says so', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const watch = await openWatch(t, api, me.accessToken);
    await api.close();
    await holds(() => assert.deepEqual(watch.events.at(-1)?.data, { reason: 'stopping' }));
    assert.equal(watch.isEnded, true);
  });

  test('a call on the same connection is answered before a stream, which node:http serves', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    t.after(() => socket.destroy());
    let text = '';
    socket.on('data', (piece) => {
      text += piece;
    });
    const body = JSON.stringify({ access_token: me.accessToken });
    const call = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(call(ROUTES['domain.list'].path) + call(ROUTES['event.watch'].path));
    await holds(() => assert.match(text, /"total":0[\s\S]*text\/event-stream[\s\S]*event: ready/));
  });
});

async function watchesOf({ registry }: TestApi): Promise<number> {
  const metric = await registry.getSingleMetric('causeway_api_watches')?.get();
  return Number(metric?.values[0]?.value);
}
