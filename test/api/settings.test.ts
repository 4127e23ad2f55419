/** What holds for every setting of a domain, over HTTP through the typed client, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { type CallOf, OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES, type RouteName } from '#contract/routes.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { add, addSampleLists, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

/** Operations that need or show a certificate; certificates.test.ts and certificate-requests.test.ts cover them. */
const WITH_CERTIFICATES = ['config.setSsl', 'config.getSsl', 'config.getCertificateRequest'];
const SETTINGS = ROUTE_NAMES.filter((name) => !WITH_CERTIFICATES.includes(name));
const SETTERS = SETTINGS.filter((name) => name.startsWith('config.set'));
const GETTERS = SETTINGS.filter((name) => name.startsWith('config.get'));

describeOnBothEngines('settings', (newDatabase) => {
  test('the sample of every operation is accepted, and is read back as the sample of reading', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const client = createClient({ baseUrl: api.url, accessToken: me.accessToken });
    const id = await add(mine, 'a.example');
    await addSampleLists(mine);
    await api.acknowledge('edge');
    for (const name of SETTERS) {
      const { revision } = await readConfigHead(api.db.query);
      assert.equal(await callSample(client, name, id), true, name);
      assert.equal((await readConfigHead(api.db.query)).revision, revision + 1, name);
      assert.equal((await show(mine, id))['domain_status'], 1, `${name} has to reach the edges`);
    }
    const { revision } = await readConfigHead(api.db.query);
    for (const name of GETTERS)
      assert.partialDeepStrictEqual(
        await callSample(client, name, id),
        withoutRevision(OPERATIONS[name].sample.data),
        name,
      );
    assert.equal((await readConfigHead(api.db.query)).revision, revision, 'reading changes nothing');
  });

  test('settings as they were read can be set again', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const client = createClient({ baseUrl: api.url, accessToken: me.accessToken });
    const id = await add(mine, 'a.example');
    await addSampleLists(mine);
    const check = async (what: string) => {
      for (const getter of GETTERS) {
        const read = await callSample(client, getter, id);
        assert.ok(typeof read === 'object');
        const answer = await mine(setterOf(getter), { domain_id: id, ...read });
        assert.equal(answer.body['data'], true, `${what}, ${getter}: ${JSON.stringify(answer.body)}`);
        assert.deepEqual(
          withoutRevision(await callSample(client, getter, id)),
          withoutRevision(read),
          `${what}, ${getter}`,
        );
      }
    };
    await check('as a new domain has it');
    for (const name of SETTERS) await callSample(client, name, id);
    await check('as the samples set it');
  });

  test("settings of another account's domain, a deleted one and one that never existed get the same answer", async (t) => {
    const { api, me, mine, theirs } = await startWithCustomers(t, newDatabase);
    const client = createClient({ baseUrl: api.url, accessToken: me.accessToken, locale: 'en' });
    const foreign = await add(theirs, 'theirs.example');
    const gone = await add(mine, 'gone.example');
    await mine('domain.delete', { domain_id: gone });
    const before = [await show(theirs, foreign), (await readConfigHead(api.db.query)).revision];
    for (const name of [...SETTERS, ...GETTERS])
      for (const id of [foreign, gone, '2147483647'])
        await assert.rejects(callSample(client, name, id), {
          code: 'domainNotFound',
          info: `domain ${id} does not exist`,
        });
    assert.deepEqual([await show(theirs, foreign), (await readConfigHead(api.db.query)).revision], before);
  });

  test('settings of a disabled domain can be read but not changed; a change to a rejected domain resubmits it', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    const client = createClient({ baseUrl: api.url, accessToken: me.accessToken });
    const id = await add(mine, 'a.example');
    await addSampleLists(mine);
    const decide = (action: string) =>
      operate('operator.setDomainStatus', { account_id: me.accountId, domain_id: id, action });
    await decide('disable');
    const before = [await show(mine, id), await specOf(api, 'a.example')];
    for (const name of SETTERS) await assert.rejects(callSample(client, name, id), { code: 'domainDisabled' }, name);
    for (const name of GETTERS) await callSample(client, name, id);
    assert.deepEqual([await show(mine, id), await specOf(api, 'a.example')], before);
    await decide('enable');
    for (const name of SETTERS) {
      await decide('reject');
      assert.equal((await show(mine, id))['domain_status'], 5, name);
      await callSample(client, name, id);
      assert.equal((await show(mine, id))['domain_status'], 1, name);
    }
  });

  test('two changes at the same time both hold, and neither undoes the other', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const client = createClient({ baseUrl: api.url, accessToken: me.accessToken });
    const id = await add(mine, 'a.example');
    await addSampleLists(mine);
    const { revision } = await readConfigHead(api.db.query);
    await Promise.all([...SETTERS, ...SETTERS].map((name) => callSample(client, name, id)));
    // Of two equal changes the second finds everything as it is.
    assert.equal((await readConfigHead(api.db.query)).revision, revision + SETTERS.length);
    for (const name of GETTERS)
      assert.partialDeepStrictEqual(
        await callSample(client, name, id),
        withoutRevision(OPERATIONS[name].sample.data),
        name,
      );
  });
});

/** Each change raises it. */
function withoutRevision(data: unknown): object {
  const { revision: _revision, ...rest } = Object(data);
  return rest;
}

/** `config.getIp` → `config.setIp` */
function setterOf(getter: RouteName): RouteName {
  const setter = SETTERS.find((name) => name === getter.replace('.get', '.set'));
  assert.ok(setter !== undefined, `${getter} has no counterpart`);
  return setter;
}

/** The sample is of this very operation; the compiler only loses that among all of them. */
function callSample(client: Client, name: RouteName, id: string): Promise<unknown> {
  const request = { ...OPERATIONS[name].sample.request, domain_id: id };
  return client.call(name, request as unknown as CallOf<typeof name>);
}
