/** Sending messages over HTTP, on both engines: every code by every way that leads to it, and the order of the checks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { ROUTES } from '#contract/routes.ts';
import { setAccountDisabled } from '#db/tables/accounts.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { balanceOf, codeOf, smsData, startSmsApi } from '../support/sms/sms-customers.ts';
import { checkMoney, readParts } from '../support/sms/sms-queue.ts';

const PATH = ROUTES['sms.ordinary'].path;
const HAN_80 = encodeURIComponent('短'.repeat(80));

describeOnBothEngines('sending', (newDatabase) => {
  test('a message is accepted: its price is held, it is queued and shown', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    const sent = await me.send({ content: '%E4%BD%A0%E5%A5%BD+1%2B1' });
    assert.deepEqual([codeOf(sent), sent.errorCode], [1000, undefined]);
    assert.match(String(sent.body['sendid']), /^\d{20}$/);
    const [part] = await readParts(api.db);
    assert.deepEqual(
      [part?.text, part?.state, part?.route, part?.due_at, part?.expire_at],
      ['你好 1+1', 'queued', '', api.now, api.now + 72 * 3_600_000],
    );
    assert.equal(codeOf(await me.send({ content: HAN_80 })), 1000);
    assert.equal(await balanceOf(me), 97, 'one part, then two');
    const { numbers } = smsData(await me.call('sms.getStatus', { sendid: sent.body['sendid'] }));
    assert.deepEqual(numbers, [
      {
        mobile: '+8613800138000',
        status: 'queued',
        price: 1,
        parts: [
          {
            part: 1,
            status: 'queued',
            submit_time: '',
            done_time: '',
            error: '',
            last_word: '',
            group: '',
            text: '',
            sends: 0,
          },
        ],
      },
    ]);
    await checkMoney(api.db);
  });

  test('every form of numbers and texts is understood', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    for (const request of [
      { mobile: 13_800_138_000, time: api.now, smsType: 2, content: 12_345 },
      { mobile: '+8613800138000', smsType: '1' },
      { mobile: '008613800138000', smsType: null },
      { mobile: '+85261234567' },
    ])
      assert.equal(codeOf(await me.send(request)), 1000, JSON.stringify(request));
  });

  test('each refusal of a message has its code, and nothing is charged', async (t) => {
    const { api, me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    const rows: readonly [object, number, string][] = [
      [{ app_key: undefined }, 2001, 'fieldMissing'],
      [{ mobile: null }, 2001, 'fieldMissing'],
      [{ content: undefined }, 2001, 'fieldMissing'],
      [{ time: undefined }, 2001, 'fieldMissing'],
      [{ mobile: ['13800138000'] }, 2001, 'fieldInvalid'],
      [{ content: { a: 1 } }, 2001, 'fieldInvalid'],
      [{ content: true }, 2001, 'fieldInvalid'],
      [{ time: true }, 2001, 'fieldInvalid'],
      [{ smsType: 'x' }, 2001, 'fieldInvalid'],
      [{ smsType: 1.5 }, 2001, 'fieldInvalid'],
      [{ smsType: 3 }, 2001, 'fieldInvalid'],
      [{ smsType: 0 }, 2001, 'fieldInvalid'],
      [{ content: '' }, 2001, 'smsContentInvalid'],
      [{ content: '100%' }, 2001, 'smsContentInvalid'],
      [{ content: '%C3%28' }, 2001, 'smsContentInvalid'],
      [{ content: '%00' }, 2001, 'smsContentInvalid'],
      [{ content: 'a\ud800' }, 2001, 'smsContentInvalid'],
      [{ content: 'a'.repeat(537) }, 2001, 'smsContentInvalid'],
      [{ time: String(api.now - 300_001) }, 2012, 'timestampInvalid'],
      [{ time: String(api.now + 300_001) }, 2012, 'timestampInvalid'],
      [{ time: String(Math.floor(api.now / 1000)) }, 2012, 'timestampInvalid'],
      [{ time: -api.now }, 2012, 'timestampInvalid'],
      [{ time: 'now' }, 2012, 'timestampInvalid'],
      [{ time: '' }, 2012, 'timestampInvalid'],
      [{ access_token: null }, 2001, 'fieldMissing'],
      [{ access_token: {} }, 2001, 'fieldInvalid'],
      ...['', '\0', '\ud800', 'x'.repeat(513)].map((text): [object, number, string] => [
        { access_token: text },
        2013,
        'tokenUnknown',
      ]),
      [{ app_key: 'none' }, 2009, 'smsAppNotFound'],
      ...['', '\0', '\ud800', 'x'.repeat(129)].map((text): [object, number, string] => [
        { app_key: text },
        2009,
        'smsAppNotFound',
      ]),
      [{ app_key: other.appKey }, 2009, 'smsAppNotFound'],
      [{ mobile: '' }, 2015, 'mobileInvalid'],
      [{ mobile: '12800138000' }, 2015, 'mobileInvalid'],
      [{ mobile: '1380013800' }, 2015, 'mobileInvalid'],
      [{ mobile: '13800138000x' }, 2015, 'mobileInvalid'],
      [{ mobile: '13800138000,13900139000' }, 2015, 'mobileInvalid'],
      [{ mobile: '85261234567' }, 2015, 'mobileInvalid'],
      [{ mobile: '+99912345678' }, 2015, 'mobileInvalid'],
    ];
    for (const [request, code, name] of rows) {
      const answer = await me.send({ ...request });
      assert.deepEqual([codeOf(answer), answer.errorCode], [code, name], JSON.stringify(request).slice(0, 200));
    }
    const unknown: readonly [string, string][] = [
      [other.appKey, JSON.stringify(other.appKey)],
      ['', 'an empty text'],
      ['sms\0', '"sms␀"'],
      ['sms\ud800', '"sms\ufffd"'],
      ['x'.repeat(129), 'a text of 129 characters (129 bytes in UTF-8)'],
    ];
    for (const [app_key, found] of unknown)
      assert.equal(
        (await me.send({ app_key })).body['msg'],
        `field app_key is invalid: expected the app_key of one of the account's SMS services; found ${found}`,
      );
    const numbers = (n: number) => Array.from({ length: n }, (_, i) => `138${String(i).padStart(8, '0')}`).join();
    const advertised: readonly [Record<string, unknown>, number, string][] = [
      [{ mobile: '' }, 2015, 'mobileInvalid'],
      [{ mobile: '13800138000,' }, 2015, 'mobileInvalid'],
      [{ mobile: '13800138000,,13900139000' }, 2015, 'mobileInvalid'],
      [{ mobile: '13800138000,1' }, 2015, 'mobileInvalid'],
      [{ mobile: numbers(1001) }, 2001, 'fieldInvalid'],
      [{ mobile: numbers(101) }, 2011, 'balanceTooLow'],
    ];
    for (const [request, code, name] of advertised) {
      const answer = await me.advertise(request);
      assert.deepEqual([codeOf(answer), answer.errorCode], [code, name], JSON.stringify(request).slice(0, 200));
    }
    assert.equal(await balanceOf(me), 100);
    assert.deepEqual(await readParts(api.db), []);
    await checkMoney(api.db);
    assert.equal(codeOf(await me.send({ time: String(api.now - 300_000) })), 1000, 'the window includes its ends');
    assert.equal(codeOf(await me.send({ time: String(api.now + 300_000) })), 1000);
    assert.equal(codeOf(await me.advertise({ mobile: ' 13800138000 , +8613800138000,13900139000' })), 1000);
    assert.equal(await balanceOf(me), 96, 'each number is charged (playsms#443), one that is repeated once');
    const rich = await join(1000);
    assert.equal(codeOf(await rich.advertise({ mobile: numbers(1000) })), 1000, 'as many as there may be');
    assert.equal(await balanceOf(rich), 0);
    await checkMoney(api.db);
  });

  test('a field that is too long or has too many entries is named, in both languages', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    await me.call('sms.setSettings', { app_key: me.appKey, suffix: '拒收请回复R' });
    const rows: readonly [object, RegExp, RegExp][] = [
      [
        { mobile: ','.repeat(1000), content: 'a' },
        /^field mobile is invalid: expected .* at most 1000; found a list of 1001$/,
        /^字段 mobile 无效，应为：.*至多 1000 个；实际为：有 1001 项的列表$/,
      ],
      [
        { mobile: '13800138000', content: 'a'.repeat(531) },
        /^field content is invalid: .* it is too long with the suffix of the SMS service$/,
        /^字段 content 无效：.*它加上短信服务的后缀后过长$/,
      ],
      [{ mobile: '13800138000', content: 'a'.repeat(537) }, /it is too long$/, /它过长$/],
    ];
    for (const [request, en, zh] of rows) {
      const body = { access_token: me.accessToken, app_key: me.appKey, time: api.now, ...request };
      for (const [language, expected] of [
        ['en', en],
        ['zh-CN', zh],
      ] as const) {
        const answer = await api.post(ROUTES['sms.advertising'].path, body, { 'accept-language': language });
        assert.equal(codeOf(answer), 2001);
        assert.match(String(answer.body['msg']), expected);
      }
    }
    assert.equal(codeOf(await me.advertise({ content: 'a'.repeat(530) })), 1000, 'as long as it may be');
  });

  test('the first check that fails decides the refusal', async (t) => {
    const { api, me, join, operate } = await startSmsApi(t, newDatabase, { balance: 0 });
    const { accessToken: cdnOnly } = await api.join('customer', ['cdn']);
    const other = await join(0);
    const disabledCdn = await api.join('customer', ['cdn']);
    await setAccountDisabled(api.db.query, disabledCdn.accountId, api.now);
    // Everything is wrong at first; each row puts right what the one before was refused for.
    const wrong = { app_key: other.appKey, mobile: 'x', content: '%', time: '1', smsType: 9 };
    const steps: readonly [string, Record<string, unknown>, number][] = [
      ['nobody', { mobile: {} }, 2001],
      ['nobody', {}, 2013],
      [disabledCdn.accessToken, {}, 2012],
      [disabledCdn.accessToken, { time: api.now }, 2005],
      [cdnOnly, { time: api.now }, 2003],
      [me.accessToken, { time: api.now }, 2009],
    ];
    for (const [token, right, code] of steps)
      assert.equal(codeOf(await api.call('sms.ordinary', token, { ...wrong, ...right })), code, JSON.stringify(right));
    const own = { ...wrong, time: api.now, app_key: me.appKey };
    await me.call('sms.updateStatus', { app_key: me.appKey, time: api.now, status: 0 });
    const disabled = await me.call('sms.ordinary', own);
    assert.deepEqual([codeOf(disabled), disabled.errorCode], [2010, 'smsAppDisabled']);
    await me.call('sms.updateStatus', { app_key: me.appKey, time: api.now + 1, status: 1 });
    const later: readonly [Record<string, unknown>, number, string][] = [
      [{}, 2001, 'smsContentInvalid'],
      [{ content: 'a' }, 2001, 'fieldInvalid'],
      [{ content: 'a', smsType: 2 }, 2015, 'mobileInvalid'],
      [{ content: 'a', smsType: 2, mobile: '13800138000' }, 2011, 'balanceTooLow'],
    ];
    for (const [right, code, name] of later) {
      const answer = await me.call('sms.ordinary', { ...own, ...right });
      assert.deepEqual([codeOf(answer), answer.errorCode], [code, name]);
    }
    await operate('smsOperator.recharge', { account_id: me.accountId, amount: 1 });
    const right = { ...own, content: 'a', smsType: 2, mobile: '13800138000' };
    assert.equal(codeOf(await me.call('sms.ordinary', right)), 1000, 'the same one, refused before, is looked at anew');
    await checkMoney(api.db);
  });

  test('the HTTP status is 200 whatever the body is, and a missing type means JSON', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
      fetch(api.url + PATH, { method: 'POST', body: typeof body === 'string' ? Buffer.from(body) : body, headers });
    const good = {
      access_token: me.accessToken,
      app_key: me.appKey,
      mobile: '13800138000',
      content: 'a',
      time: api.now,
    };
    for (const body of ['', '{', '[]', 'null', '"x"', 'a=b', new Uint8Array([0x22, 0xff, 0x22])]) {
      const answer = await post(body, { 'content-type': 'application/json' });
      const { code, sendid } = JSON.parse(await answer.text());
      assert.deepEqual([answer.status, code, sendid], [200, 2001, ''], String(body));
    }
    const typeless = await post(JSON.stringify(good));
    assert.deepEqual([typeless.status, (JSON.parse(await typeless.text()) as { code: number }).code], [200, 1000]);
    const form = await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' });
    assert.deepEqual([form.status, (JSON.parse(await form.text()) as { code: number }).code], [415, 2001]);
    const large = await post(JSON.stringify({ ...good, time: api.now + 1, more: 'x'.repeat(70_000) }));
    assert.equal((JSON.parse(await large.text()) as { code: number }).code, 1000, 'more than 64 KiB');
    const update = await api.post(ROUTES['sms.updateStatus'].path, '[', { 'content-type': 'application/json' });
    assert.deepEqual([update.http, update.body['status'], update.body['data']], [200, 2001, {}]);
  });

  test('wrong tokens are counted per address, as in all operations', async (t) => {
    const { api } = await startSmsApi(t, newDatabase, { limits: { failedTokensPerMinute: 1 } });
    const message = { app_key: 'x', mobile: '13800138000', content: 'a', time: api.now };
    const first = await api.call('sms.ordinary', 'wrong', message);
    const second = await api.call('sms.ordinary', 'wrong', message);
    assert.deepEqual(
      [first.body['code'], first.http, second.body['code'], second.http, second.errorCode],
      [2013, 200, 2013, 429, 'tooManyFailedTokens'],
    );
  });

  test('a repeated request gets the first answer, and sends and costs nothing', async (t) => {
    const { api, me, join, operate } = await startSmsApi(t, newDatabase);
    const request = { app_key: me.appKey, mobile: '13800138000', content: 'once', time: String(api.now) };
    const [first, ...more] = await Promise.all([1, 2, 3, 4].map(() => me.call('sms.ordinary', request)));
    const sendid = first?.body['sendid'];
    assert.deepEqual(
      more.map(({ body }) => [body['code'], body['sendid']]),
      more.map(() => [1000, sendid]),
      'also at the same moment',
    );
    await me.call('sms.updateStatus', { app_key: me.appKey, time: api.now, status: 0 });
    assert.equal((await me.call('sms.ordinary', request)).body['sendid'], sendid, 'also when it is disabled now');
    await me.call('sms.updateStatus', { app_key: me.appKey, time: api.now + 1, status: 1 });
    api.now += 300_000;
    assert.equal((await me.call('sms.ordinary', request)).body['sendid'], sendid);
    assert.equal((await readParts(api.db)).length, 1);
    assert.equal(await balanceOf(me), 99);
    for (const changed of [{ content: 'twice' }, { mobile: '13900139000' }, { time: String(api.now) }])
      assert.notEqual((await me.call('sms.ordinary', { ...request, ...changed })).body['sendid'], sendid);
    assert.equal((await readParts(api.db)).length, 4);
    assert.notEqual((await me.call('sms.advertising', request)).body['sendid'], sendid, 'another operation');
    const other = await join(5);
    const theirs = await other.call('sms.ordinary', { ...request, app_key: other.appKey });
    assert.notEqual(theirs.body['sendid'], sendid);
    const made = await operate('operator.createToken', { account_id: me.accountId, scopes: ['sms'] });
    const again = await api.call('sms.ordinary', String(smsData(made)['access_token']), request);
    assert.deepEqual([codeOf(again), again.body['sendid'] === sendid], [1000, false], 'another token of the account');
    api.now += 1;
    assert.equal(codeOf(await me.call('sms.ordinary', request)), 2012, 'past the window');
    await checkMoney(api.db);
  });

  test('the last of the balance is spent once (playsms#259), and a request that cannot be paid does not hinder others', async (t) => {
    const { api, me, join } = await startSmsApi(t, newDatabase, { balance: 3 });
    const rich = await join(1000);
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => me.send()),
      ...Array.from({ length: 8 }, () => rich.send({ content: HAN_80, time: api.now })),
      ...Array.from({ length: 8 }, (_, i) => rich.send({ mobile: i === 3 ? 'x' : '13800138000' })),
    ]);
    const codes = answers.map(codeOf);
    assert.deepEqual(codes.slice(0, 8).sort(), [1000, 1000, 1000, 2011, 2011, 2011, 2011, 2011]);
    assert.deepEqual(codes.slice(8, 16), Array(8).fill(1000), 'eight times the same is one');
    assert.deepEqual(codes.slice(16).sort(), [...Array(7).fill(1000), 2015]);
    assert.deepEqual([await balanceOf(me), await balanceOf(rich)], [0, 1000 - 2 - 7]);
    await checkMoney(api.db);
  });

  test('the long messages to one number have consecutive references', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    for (let n = 0; n < 3; n += 1) {
      await me.send({ content: `${HAN_80}${n}` });
      await me.send();
    }
    const rows = await api.db.query.selectFrom('sms_message').select(['parts', 'reference']).orderBy('id').execute();
    assert.deepEqual(
      rows.filter(({ parts }) => parts > 1).map(({ reference }) => reference),
      [0, 1, 2],
    );
  });

  test('requests beyond the limit of the queue for acceptance are refused', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase, { limits: { smsWaiting: 0 } });
    const answer = await me.send();
    assert.deepEqual([codeOf(answer), answer.errorCode], [2010, 'smsQueueFull']);
    await checkMoney(api.db);
  });
});

test('while SQLite is full a message is refused with 2010, and nothing of it is stored', async (t) => {
  const { api, me } = await startSmsApi(t, newSqlite, { balance: 10_000 });
  await sql`pragma max_page_count = 1`.execute(api.db.query); // as many as there are
  let answer = await me.send({ content: HAN_80 });
  for (let n = 0; answer.body['code'] === 1000 && n < 500; n += 1) answer = await me.send({ content: HAN_80 + n });
  assert.deepEqual([codeOf(answer), answer.errorCode], [2010, 'notReady']);
  await checkMoney(api.db);
  await sql`pragma max_page_count = 100000`.execute(api.db.query);
  assert.equal(codeOf(await me.send()), 1000);
  await checkMoney(api.db);
});
