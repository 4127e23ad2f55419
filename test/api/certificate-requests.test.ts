/** Certificate requests through the interface: permissions, limits and reported states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimOrders, countOrders, findOrder, LeaseLost, saveOrder } from '#db/tables/certificate-orders.ts';
import { type CertificateOrder, NEVER_AT } from '#model/certificate-order.ts';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

const NONE = {
  state: 'none',
  state_name: 'none',
  problem: '',
  problem_name: '',
  detail: '',
  ssl_key: '',
  request_time: '',
  next_time: '',
};

describeOnBothEngines('requests of certificates', (newDatabase) => {
  test('a certificate request reports its progress to its owner only', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const domain_id = await add(mine, 'www.example.com');
    const ask = async () => (await mine('config.requestCertificate', { domain_id })).errorCode;
    const show = async () => dataOf(await mine('config.getCertificateRequest', { domain_id }));
    assert.deepEqual(await show(), NONE);
    assert.equal((await theirs('config.requestCertificate', { domain_id })).errorCode, 'domainNotFound');
    assert.equal((await theirs('config.getCertificateRequest', { domain_id })).errorCode, 'domainNotFound');
    const wild = await add(mine, '*.example.org');
    assert.equal((await mine('config.requestCertificate', { domain_id: wild })).errorCode, 'wildcardNotObtained');

    assert.equal(await ask(), undefined);
    const asked = { ...NONE, state: 'pending', state_name: 'requested', request_time: '2026-01-31 12:00:00' };
    assert.deepEqual(await show(), asked);
    const claim = { owner: 'w1', now: api.now, leaseUntil: api.now + 1000, limit: 10 };
    const [order] = await api.db.transaction((trx) => claimOrders(trx, claim));
    assert.ok(order !== undefined);
    const again = await api.db.transaction((trx) => claimOrders(trx, { ...claim, owner: 'w2' }));
    assert.deepEqual(again, [], 'one process at a time');
    assert.equal(await ask(), undefined);
    await assert.rejects(saveOrder(api.db.query, order, { owner: 'w2', now: api.now }), LeaseLost);

    const held = { ...order, problem: 'limited', detail: 'a limit of ours', dueAt: api.now + 300_000 } as const;
    await saveOrder(api.db.query, held, { owner: 'w1', now: api.now, keeps: true });
    const waiting = await show();
    assert.deepEqual(
      [waiting['state'], waiting['problem'], waiting['detail'], waiting['next_time']],
      ['pending', 'limited', 'a limit of ours', '2026-01-31 12:05:00'],
    );

    const failed = { ...order, state: 'failed', problem: 'validation', detail: 'no such name', failures: 1 } as const;
    const today = { dayBeganAt: api.now, dayOrders: 4, orderedAt: api.now };
    await saveOrder(api.db.query, { ...failed, ...today, dueAt: api.now + 3_600_000 }, { owner: 'w1', now: api.now });
    const shown = await show();
    assert.deepEqual(
      [shown['state'], shown['problem'], shown['detail'], shown['next_time']],
      ['failed', 'validation', 'no such name', '2026-01-31 13:00:00'],
    );
    assert.match(String(shown['problem_name']), /^the certificate authority could not validate the name/);

    const later = { ...claim, owner: 'w3', now: api.now + 3_600_000, leaseUntil: api.now + 3_601_000 };
    const [due] = await api.db.transaction((trx) => claimOrders(trx, later));
    assert.equal(due?.failures, 1);
    await saveOrder(
      api.db.query,
      { ...failed, ...today, dayOrders: 5, dueAt: NEVER_AT },
      { owner: 'w3', now: later.now },
    );
    assert.equal((await show())['next_time'], '', 'given up');
    assert.equal(await ask(), 'certificateRequestLimit');
    api.now += 24 * 3_600_000;
    assert.equal(await ask(), undefined);
    assert.equal((await findOrder(api.db.query, Number(domain_id)))?.failures, 0);
  });

  test(
    'certificate requests end when the domain is given another certificate, or none',
    needs('openssl'),
    async (t) => {
      const { api, me, mine } = await startWithCustomers(t, newDatabase);
      const { ssl_key } = await addTestCertificate(t, api, me.accessToken, ['www.example.com']);
      const domain_id = await add(mine, 'www.example.com');
      const id = Number(domain_id);
      const ask = async () => (await mine('config.requestCertificate', { domain_id })).errorCode;
      const show = async () => {
        const { state, problem, next_time } = dataOf(await mine('config.getCertificateRequest', { domain_id }));
        return [state, problem, next_time];
      };
      const setSsl = async (fields: object) =>
        assert.equal((await mine('config.setSsl', { domain_id, ...fields })).errorCode, undefined);
      const hold = async (change: Partial<CertificateOrder>) => {
        const claim = { owner: 'w1', now: api.now, leaseUntil: api.now + 1000, limit: 10 };
        const [order] = await api.db.transaction((trx) => claimOrders(trx, claim));
        assert.ok(order !== undefined);
        await saveOrder(api.db.query, { ...order, ...change }, { owner: 'w1', now: api.now, keeps: true });
        return order;
      };
      assert.equal(await ask(), undefined);
      const challenge = { key: 'www.example.com/token', revision: 1, toldAt: 0 };
      const order = await hold({ state: 'challenged', challenge, dayBeganAt: api.now, dayOrders: 5 });
      await setSsl({ ssl_control: 1, ssl_key });
      assert.deepEqual(await show(), ['none', 'replaced', '']);
      await assert.rejects(saveOrder(api.db.query, order, { owner: 'w1', now: api.now }), LeaseLost);
      const told = api.db.query.selectFrom('resource').select('deleted').where('key', '=', challenge.key);
      assert.deepEqual(await told.execute(), [{ deleted: 1 }], 'edges are told');
      assert.equal(await ask(), 'certificateRequestLimit', 'what it was asked for today still counts');

      api.now += 24 * 3_600_000 - 1000;
      await api.db.query.updateTable('certificate_order').set({ day_orders: 0 }).execute();
      assert.equal(await ask(), undefined);
      await hold({ state: 'issued', sslKey: ssl_key, issuedKey: ssl_key, dueAt: api.now + 3_600_000 });
      assert.equal((await show())[0], 'issued');
      await setSsl({ ssl_control: 1, force_https: 1 });
      assert.equal((await show())[0], 'issued', 'the certificate is the same');
      await setSsl({ ssl_control: 0 });
      assert.deepEqual(await show(), ['none', 'replaced', '']);
      assert.equal(await countOrders(api.db.query), 0);
      assert.equal((await mine('domain.delete', { domain_id })).errorCode, undefined);
      assert.equal((await findOrder(api.db.query, id))?.problem, 'replaced');
    },
  );
});

test('a service without an authority refuses to obtain certificates', async (t) => {
  const { mine } = await startWithCustomers(t, newSqlite, { obtainsCertificates: false });
  const domain_id = await add(mine, 'www.example.com');
  const answer = await mine('config.requestCertificate', { domain_id });
  assert.deepEqual([answer.errorCode, answer.body['data']], ['certificatesNotObtained', false]);
  assert.match(String(answer.body['info']), /acme-directory/);
});
