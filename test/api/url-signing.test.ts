/** Signed URLs over HTTP, on both engines: what is stored and read back, and how keys are kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { TestApi } from '../support/api/api.ts';
import { add, dataOf, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

const [PRIMARY, SECONDARY] = ['primarykey12345678', 'secondarykey1234567'];

async function keysResource({ db }: TestApi, id: string) {
  const rows = await db.query
    .selectFrom('resource')
    .selectAll()
    .where('kind', '=', LIVE_KEYS_KIND)
    .where('key', '=', id)
    .execute();
  return rows[0];
}

describeOnBothEngines('signed URLs', (newDatabase) => {
  test('settings that are omitted stay, and keys are stored but never shown', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (request: object) => mine('config.setUrlSigning', { domain_id: id, ...request });
    const read = async () => {
      const { revision: _revision, ...data } = dataOf(await mine('config.getUrlSigning', { domain_id: id }));
      return data;
    };
    const none = { sign: '0', valid_seconds: 1800, paths: [], has_primary_key: '0', has_secondary_key: '0' };
    assert.deepEqual(await read(), none);
    const missing = await set({ sign: 1 });
    assert.deepEqual([missing.errorCode, (await read())['sign']], ['fieldMissing', '0']);
    assert.match(String(missing.body['info']), /^field primary_key is missing: expected 16 to 64 letters and digits/);
    const paths = [{ path_type: 'prefix', path: '/vod/' }];
    assert.equal((await set({ sign: '1', valid_seconds: 60, paths, primary_key: PRIMARY })).body['data'], true);
    assert.deepEqual(await read(), { ...none, sign: '1', valid_seconds: 60, paths, has_primary_key: '1' });
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), {
      signing: { validSeconds: 60, paths: [{ match: 'prefix', content: '/vod/' }] },
    });
    const resource = await keysResource(api, id);
    assert.ok(resource !== undefined && !resource.body.includes(PRIMARY) && resource.body.includes('sealed'));
    const site = await api.db.query
      .selectFrom('resource')
      .select('revision')
      .where('key', '=', 'a.example')
      .executeTakeFirst();
    assert.equal(site?.revision, resource.revision, 'one revision brings both');
    assert.equal((await set({ sign: 1, secondary_key: SECONDARY, paths: [] })).body['data'], true);
    assert.deepEqual(await read(), {
      ...none,
      sign: '1',
      valid_seconds: 60,
      has_primary_key: '1',
      has_secondary_key: '1',
    });
    const { list } = dataOf(
      await mine('audit.list', { target_kind: 'domain', target_id: id, operation: 'config.setUrlSigning' }),
    );
    assert.ok(Array.isArray(list) && list.length > 2 && list.every((event) => event.target_name === 'a.example'));
    assert.equal((await set({ sign: 0 })).body['data'], true);
    assert.equal(Object(await specOf(api, 'a.example'))['signing'], undefined);
    assert.equal((await set({ sign: 1, primary_key: '' })).body['data'], true, 'the secondary key is left');
    assert.deepEqual((await read())['has_secondary_key'], '0', 'and is the primary one now');
    assert.equal((await set({ sign: 1, primary_key: '' })).errorCode, 'fieldMissing');
    for (const name of ['config.setUrlSigning', 'config.getUrlSigning'] as const)
      assert.equal((await theirs(name, { domain_id: id, sign: 0 })).errorCode, 'domainNotFound');
  });

  test('each limit has an error that names the field, and no error shows a key', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const rows: readonly (readonly [object, string, RegExp])[] = [
      [{}, 'fieldMissing', /^field sign is missing/],
      [{ sign: 2 }, 'fieldInvalid', /^field sign /],
      [{ sign: 0, valid_seconds: 31_536_001 }, 'fieldInvalid', /^field valid_seconds .*31536000/],
      [{ sign: 0, primary_key: 'short-key' }, 'fieldInvalid', /^field primary_key .*16 to 64 letters/],
      [{ sign: 0, secondary_key: 'x'.repeat(65) }, 'fieldInvalid', /^field secondary_key /],
      [{ sign: 0, paths: [{ path_type: 'prefix', path: 'vod' }] }, 'entryInvalid', /^field paths\[0\]\[path\] /],
      [
        { sign: 0, paths: Array(21).fill({ path_type: 'prefix', path: '/' }) },
        'fieldInvalid',
        /^field paths .*at most 20/,
      ],
    ];
    for (const [request, code, info] of rows) {
      const answer = await mine('config.setUrlSigning', { domain_id: id, ...request });
      const said = String(answer.body['info']);
      assert.deepEqual([answer.errorCode, info.test(said)], [code, true], said);
      assert.doesNotMatch(said, /short-key|xxxx/);
    }
  });

  test('keys go when the domain goes, and do not move to another account', async (t) => {
    const { api, me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    await mine('config.setUrlSigning', { domain_id: id, sign: 1, primary_key: PRIMARY });
    const move = () =>
      operate('operator.transferDomain', { account_id: me.accountId, domain_id: id, to_account_id: other.accountId });
    assert.equal((await move()).errorCode, 'domainSignsUrls');
    await mine('config.setUrlSigning', { domain_id: id, sign: 0 });
    assert.equal((await move()).body['data'], true);
    assert.equal(dataOf(await theirs('config.getUrlSigning', { domain_id: id }))['has_primary_key'], '0');
    await theirs('config.setUrlSigning', { domain_id: id, sign: 1, primary_key: PRIMARY });
    await theirs('domain.delete', { domain_id: id });
    assert.equal((await keysResource(api, id))?.deleted, 1);
  });
});
