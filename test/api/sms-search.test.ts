/** Finding, counting and explaining messages: over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { storeReplies } from '#db/tables/sms/replies.ts';
import type { PartState } from '#model/sms-part.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { type SmsCustomer, type SmsStage, smsData, startSmsApi } from '../support/sms/sms-customers.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describeOnBothEngines('searches of messages', (newDatabase) => {
  test('messages are found by number, state, service and time, the newest first', async (t) => {
    const stage = await startSmsApi(t, newDatabase);
    const { api, me, operate } = stage;
    const second = smsData(await operate('smsOperator.createApp', { account_id: me.accountId, name: 'b' }))['app_key'];
    const first = await sendid(me);
    api.now += HOUR_MS;
    const long = await sendid(me, { mobile: '13900139000', content: 'a'.repeat(71) });
    api.now += HOUR_MS;
    const other = await sendid(me, { app_key: second });
    await setState(api.db, [first], 'delivered');
    await setState(api.db, [long], 'failed', 2);
    const found = async (filter: Record<string, unknown>) => idsOf(await me.call('sms.find', filter));
    assert.deepEqual(await found({}), [other, long, first]);
    assert.deepEqual(await found({ mobile: '+8613900139000' }), [long]);
    assert.deepEqual(await found({ mobile: '13800138000' }), [other, first]);
    assert.deepEqual(await found({ mobile: '13800138000', status: ['delivered'] }), [first]);
    assert.deepEqual(await found({ status: ['failed', 'expired'] }), [long], 'one part of it has failed');
    assert.deepEqual(await found({ status: ['queued', 'delivered'] }), [other, first], 'a failed one is not queued');
    assert.deepEqual(await found({ app_key: second }), [other]);
    const at = (ms: number) => String(ms);
    assert.deepEqual(await found({ from: at(api.now - HOUR_MS) }), [other, long]);
    assert.deepEqual(await found({ to: at(api.now - HOUR_MS) }), [long, first]);
    assert.deepEqual(await found({ from: at(api.now - HOUR_MS), to: at(api.now - 1) }), [long]);
    assert.deepEqual(await found({ to: at(api.now - DAY_MS) }), []);
    assert.deepEqual(await found({ status: ['failed'], to: at(api.now - 2 * HOUR_MS) }), []);
    const [row] = listOf(await me.call('sms.find', { mobile: '13900139000' }));
    assert.deepEqual(row, {
      ...{ sendid: long, app_key: me.appKey, kind: 'ordinary', mobile: '+8613900139000' },
      ...{ status: 'failed', parts: 2, price: 2, created_at: api.now - HOUR_MS },
    });
  });

  test('pages of a search join without a gap, with every filter', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    const sent: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      api.now += 1_000;
      sent.unshift(await sendid(me, { content: String(n) }));
    }
    await setState(api.db, sent, 'failed');
    for (const filter of [{}, { status: ['failed'] }, { mobile: '13800138000' }, { app_key: me.appKey }]) {
      const pages: string[][] = [];
      for (let cursor = ''; ; ) {
        const answer = await me.call('sms.find', { ...filter, cursor, page_size: 3 });
        pages.push(idsOf(answer));
        cursor = String(smsData(answer)['next']);
        const oldest = listOf(answer).at(-1)?.['created_at'];
        assert.equal(smsData(answer)['searched_until'], cursor === '' ? 0 : oldest);
        if (cursor === '') break;
      }
      assert.deepEqual(pages, [sent.slice(0, 3), sent.slice(3, 6), sent.slice(6)], JSON.stringify(filter));
    }
  });

  test("another account's messages and services are not there, also not to the same number", async (t) => {
    const { api, me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    const [mine, theirs] = [await sendid(me), await sendid(other)];
    await setState(api.db, [mine, theirs], 'failed');
    for (const filter of [{}, { mobile: '13800138000' }, { status: ['failed'] }, { status: ['failed', 'queued'] }]) {
      assert.deepEqual(idsOf(await me.call('sms.find', filter)), [mine]);
      assert.deepEqual(idsOf(await other.call('sms.find', filter)), [theirs]);
    }
    for (const name of ['sms.find', 'sms.statistics', 'sms.listDeliveries', 'sms.split'] as const) {
      const answer = await me.call(name, { app_key: other.appKey, content: 'a' });
      assert.equal(answer.errorCode, 'smsAppNotFound', name);
    }
    const foreign = await me.call('sms.getMessage', { sendid: theirs, mobile: '13800138000' });
    assert.equal(foreign.errorCode, 'messageNotFound');
    assert.equal(smsData(await other.call('sms.statistics', {}))['is_complete'], true);
  });

  test('a search through many messages that do not fit ends after a bounded number, and can go on', async (t) => {
    const stage = await startSmsApi(t, newDatabase);
    const { api, me } = stage;
    const first = await sendid(me);
    await setState(api.db, [first], 'delivered');
    await addMessages(stage, 20_500);
    const rare = await me.call('sms.find', { status: ['delivered'] });
    assert.deepEqual(idsOf(rare), []);
    assert.ok(Number(smsData(rare)['searched_until']) >= api.now);
    const next = await me.call('sms.find', { status: ['delivered'], cursor: smsData(rare)['next'] });
    assert.deepEqual([idsOf(next), smsData(next)['next']], [[first], '']);
    const [sum] = listOf(await me.call('sms.statistics', { by: ['status'], to: String(api.now + 1) }));
    assert.deepEqual([sum?.['status'], sum?.['messages'], sum?.['parts']], ['delivered', 1, 1]);
    const sums = listOf(await me.call('sms.statistics', { by: ['app'] }));
    assert.deepEqual([sums.length, sums[0]?.['messages'], sums[0]?.['app_key']], [1, 20_501, me.appKey]);
  });

  test('an account that searches again and again waits for its turn, and is refused when too many wait', async (t) => {
    const { me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    await sendid(me);
    const many = await Promise.all(Array.from({ length: 12 }, () => me.call('sms.find', { status: ['queued'] })));
    const one = await other.call('sms.find', { status: ['queued'] });
    assert.equal(one.errorCode, undefined);
    const codes = new Set(many.map(({ errorCode }) => errorCode));
    assert.deepEqual(
      [...codes].filter((code) => code !== undefined && code !== 'tooManyRequests'),
      [],
    );
    assert.ok(many.some(({ errorCode }) => errorCode === undefined));
  });

  test('fields that cannot be right are refused by name', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    for (const [name, request, code, words] of [
      ['sms.find', { mobile: '123' }, 'mobileInvalid', /mobile/],
      ['sms.find', { status: ['lost'] }, 'fieldInvalid', /status.*queued/],
      ['sms.find', { cursor: 'x' }, 'fieldInvalid', /cursor.*next/],
      ['sms.find', { from: api.now, to: api.now - 1 }, 'fieldInvalid', /from.*not after `to`/],
      ['sms.statistics', { by: ['month'] }, 'fieldInvalid', /by.*day, app, status/],
      ['sms.getMessage', { sendid: '1', mobile: '13800138000' }, 'messageNotFound', /no number \+8613800138000/],
    ] as const) {
      const answer = await me.call(name, request);
      assert.equal(answer.errorCode, code, JSON.stringify(answer.body));
      assert.match(String(answer.body['info']), words);
    }
  });

  test('the time line of a message tells what each part went through, in order and in words', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    const { db } = api;
    const sent = await sendid(me, { content: 'a'.repeat(71) });
    const accepted = api.now;
    const [one, two] = await db.query.selectFrom('sms_part').select('id').orderBy('n').execute();
    const attempt = { part_id: one?.id ?? 0, connector_id: 1, sent_at: accepted + 5, ended_at: accepted + 9 };
    await db.query
      .insertInto('sms_attempt')
      .values({ ...attempt, outcome: 'postponed', error: '0x00000058' })
      .execute();
    const taken = { connector_id: 1, carrier_id: 'c1', submitted_at: accepted + 20, done_at: accepted + 4_000 };
    await db.query
      .updateTable('sms_part')
      .set({ ...taken, state: 'failed', error: 'UNDELIV/027', last_word: 'UNDELIV/027' })
      .where('id', '=', one?.id ?? 0)
      .execute();
    await db.query
      .updateTable('sms_part')
      .set({ due_at: accepted + 60_000 })
      .where('id', '=', two?.id ?? 0)
      .execute();
    const message = smsData(await me.call('sms.getMessage', { sendid: sent, mobile: '13800138000' }));
    assert.equal(JSON.stringify(message).includes('aaa'), false, 'its text is not told');
    const { parts, ...head } = message;
    assert.deepEqual(head, {
      ...{ sendid: sent, app_key: me.appKey, kind: 'ordinary', mobile: '+8613800138000', status: 'failed' },
      ...{ price: 1, created_at: accepted },
    });
    const none = { connector: '', carrier_id: '', error: '', word: '', text: '' };
    assert.deepEqual(parts, [
      {
        part: 1,
        status: 'failed',
        events: [
          { ...none, at: accepted, kind: 'accepted' },
          {
            ...{ ...none, at: accepted + 9, kind: 'postponed', connector: 'loopback', error: '0x00000058' },
            text: "the carrier's rate limit was exceeded",
          },
          { ...none, at: accepted + 20, kind: 'submitted', connector: 'loopback', carrier_id: 'c1' },
          {
            ...{ ...none, at: accepted + 4_000, kind: 'failed', connector: 'loopback', error: 'UNDELIV/027' },
            ...{ word: 'UNDELIV/027', text: 'the carrier could not deliver it' },
          },
        ],
      },
      {
        part: 2,
        status: 'queued',
        events: [
          { ...none, at: accepted, kind: 'accepted' },
          { ...none, at: accepted + 60_000, kind: 'due' },
        ],
      },
    ]);
  });

  test('replies are found by number and time, and opt-outs by the beginning of the number', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    await sendid(me);
    await sendid(me, { mobile: '13900139000' });
    const reply = (origin: string, text: string) => ({ connectorId: 1, origin, text, isOptOut: false });
    const arrive = (at: number, ...replies: ReturnType<typeof reply>[]) =>
      api.db.transaction((trx) => storeReplies(trx, replies, at));
    await arrive(api.now, reply('+8613800138000', 'a'), reply('+8613900139000', 'b'));
    await arrive(api.now + 1_000, reply('+8613800138000', 'c'));
    const found = async (request: Record<string, unknown>) =>
      listOf(await me.call('sms.listReplies', request)).map(({ text }) => text);
    assert.deepEqual(await found({}), ['c', 'b', 'a']);
    assert.deepEqual(await found({ mobile: '13800138000' }), ['c', 'a']);
    assert.deepEqual(await found({ from: String(api.now + 1) }), ['c']);
    assert.deepEqual(await found({ to: String(api.now), mobile: '13900139000' }), ['b']);
    const page = await me.call('sms.listReplies', { mobile: '13800138000', page_size: 1 });
    assert.deepEqual(await found({ mobile: '13800138000', before: smsData(page)['next'] }), ['a']);
    assert.equal((await me.call('sms.listReplies', { from: api.now, to: api.now - 1 })).errorCode, 'fieldInvalid');
    await me.call('sms.addOptOuts', { mobile: ['13800138000', '13900139000', '+85261234567'] });
    const optOuts = async (request: Record<string, unknown>) =>
      listOf(await me.call('sms.getOptOuts', request)).map(({ mobile }) => mobile);
    assert.deepEqual(await optOuts({ prefix: '+86139' }), ['+8613900139000']);
    assert.deepEqual(await optOuts({ prefix: '+86' }), ['+8613800138000', '+8613900139000']);
    assert.deepEqual(await optOuts({ prefix: '+8613800138000' }), ['+8613800138000']);
    assert.deepEqual(await optOuts({ prefix: '+86', after: '+8613800138000' }), ['+8613900139000']);
    assert.equal((await me.call('sms.getOptOuts', { prefix: '86' })).errorCode, 'fieldInvalid');
  });

  test("sums are by the days of the service's time zone, and by what is asked for", async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase, { balance: 1_000 });
    api.now += 11 * HOUR_MS + 59 * 60_000; // 23:59 on 31 January in Shanghai
    const before = await sendid(me, { content: 'a'.repeat(71) });
    api.now += 2 * 60_000;
    await sendid(me);
    await setState(api.db, [before], 'delivered');
    const sums = async (request: Record<string, unknown>) => listOf(await me.call('sms.statistics', request));
    const row = (day: string, status: string, messages: number, parts: number) => {
      return { day, app_key: '', status, messages, parts, price: parts };
    };
    assert.deepEqual(await sums({}), [row('2026-02-01', 'queued', 1, 1), row('2026-01-31', 'delivered', 1, 2)]);
    assert.deepEqual(await sums({ by: ['day'] }), [row('2026-02-01', '', 1, 1), row('2026-01-31', '', 1, 2)]);
    assert.deepEqual(await sums({ to: String(api.now - 1) }), [row('2026-01-31', 'delivered', 1, 2)]);
    const all = smsData(await me.call('sms.statistics', { by: ['app'], from: '0' }));
    assert.deepEqual(all, {
      list: [{ day: '', app_key: me.appKey, status: '', messages: 2, parts: 3, price: 3 }],
      from: 0,
      to: api.now,
      is_complete: true,
    });
  });
});

async function sendid(customer: SmsCustomer, request: Record<string, unknown> = {}): Promise<string> {
  const { body } = await customer.send(request);
  assert.equal(body['code'], 1000, JSON.stringify(body));
  return String(body['sendid']);
}

function listOf(answer: Awaited<ReturnType<SmsCustomer['call']>>): readonly Readonly<Record<string, unknown>>[] {
  const { list } = smsData(answer);
  assert.ok(Array.isArray(list));
  return list;
}

function idsOf(answer: Awaited<ReturnType<SmsCustomer['call']>>): string[] {
  return listOf(answer).map((row) => String(row['sendid']));
}

/** Sets the state of the parts of requests; with `part` of one part of each alone. */
async function setState(db: Db, sendids: readonly string[], state: PartState, part?: number): Promise<void> {
  await db.query
    .updateTable('sms_part')
    .set({ state, done_at: 1 })
    .where('message_id', 'in', (e) =>
      e
        .selectFrom('sms_message as m')
        .innerJoin('sms_request as r', 'r.id', 'm.request_id')
        .select('m.id')
        .where('r.sendid', 'in', sendids),
    )
    .$if(part !== undefined, (query) => query.where('n', '=', part ?? 0))
    .execute();
}

/** Adds one request to many numbers, all of which are queued. */
async function addMessages({ api }: SmsStage, count: number): Promise<void> {
  await api.db.transaction(async (trx) => {
    const first = await trx.selectFrom('sms_message').selectAll().executeTakeFirstOrThrow();
    const part = await trx.selectFrom('sms_part').selectAll().executeTakeFirstOrThrow();
    const request = await trx.selectFrom('sms_request').selectAll().executeTakeFirstOrThrow();
    const { id } = await trx
      .insertInto('sms_request')
      .values({
        ...request,
        ...{ id: undefined, sendid: randomUUID(), replay_hash: randomUUID(), created_at: api.now },
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    for (let left = count; left > 0; left -= 500) {
      const rows = Array.from({ length: Math.min(left, 500) }, () => ({ ...first, id: undefined, request_id: id }));
      const made = await trx.insertInto('sms_message').values(rows).returning('id').execute();
      const parts = made.map((row) => ({ ...part, id: undefined, message_id: row.id, state: 'queued' }));
      await trx.insertInto('sms_part').values(parts).execute();
    }
  });
}
