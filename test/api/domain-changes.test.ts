/** Partial changes of a domain's settings, its revisions, and the way back to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SETTING_TOPICS } from '#contract/changes/setting-topics.ts';
import { tidy } from '#feed/server/housekeeping.ts';
import { DAY_MS } from '#lib/durations.ts';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { add, dataOf, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

type Fields = Record<string, unknown>;

describeOnBothEngines('changes of settings', (newDatabase) => {
  async function start(t: Parameters<typeof startWithCustomers>[0]) {
    const world = await startWithCustomers(t, newDatabase);
    const { mine } = world;
    const id = await add(mine, 'a.example');
    const change = (set: Fields, more: Fields = {}) => mine('domain.change', { domain_id: id, set, ...more });
    const settings = async () => dataOf(await mine('domain.settings', { domain_id: id }));
    return { ...world, id, change, settings };
  }

  test('settings of several topics are changed in one revision, and the others stay', async (t) => {
    const { api, mine, id, change, settings } = await start(t);
    await change({ advanced: { page_compress: 1, expires: 60 } });
    const before = await settings();
    const changed = dataOf(await change({ advanced: { expires: '90' }, ip: { ip_type: 1, ip_str: ['192.0.2.1'] } }));
    assert.deepEqual(changed['changes'], [
      { topic: 'advanced', name: 'expires', before: '60', after: '90' },
      { topic: 'ip', name: 'ip_type', before: 0, after: 1 },
      { topic: 'ip', name: 'ip_str', before: '', after: '192.0.2.1' },
    ]);
    assert.equal(Number(changed['revision']), Number(before['revision']) + 1);
    assert.partialDeepStrictEqual(await show(mine, id), { page_compress: '1', expires: '90' });
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), { expiresSeconds: 90, pageCompress: true });
  });

  test('equal settings, and a dry run, make no revision', async (t) => {
    const { change, settings } = await start(t);
    const before = await settings();
    for (const [set, more] of [
      [{}, {}],
      [{ advanced: { expires: 0 }, referer: {} }, {}],
      [before['settings'], {}],
      [{ advanced: { expires: 5 } }, { dry_run: '1' }],
    ] as [Fields, Fields][]) {
      const { revision, changes } = dataOf(await change(set, more));
      assert.equal(revision, before['revision']);
      assert.equal(Array.isArray(changes) && changes.length, more['dry_run'] === '1' ? 1 : 0);
      assert.deepEqual(await settings(), before);
    }
  });

  test('a dry run refuses what the change would be refused for', async (t) => {
    const { change } = await start(t);
    for (const dry_run of ['0', '1']) {
      assert.equal((await change({ origin: { data: [] } }, { dry_run })).errorCode, 'originsMissing');
      assert.equal((await change({ recording: { record: 1 } }, { dry_run })).errorCode, 'domainNotLive');
      assert.equal(
        (await change({ ssl: { ssl_control: 1, ssl_key: 'x' } }, { dry_run })).errorCode,
        'certificateNotFound',
      );
    }
  });

  test('an error names the setting as it stands in the request', async (t) => {
    const { change } = await start(t);
    const names =
      'the name of a topic, or of a setting in it, as /domain/getSettings answers them, and an object for a topic; found ';
    const refused: [Fields, string][] = [
      [{ advanced: { expires: 'soon' } }, 'field set[advanced][expires] is invalid: expected a whole number'],
      [{ advanced: { forbid_http_code: '302' } }, 'field set[advanced][forbid_redirect_url]'],
      [{ policies: { policy: [{ is_cache: 2 }] } }, 'field set[policies][policy][0][is_cache] is invalid'],
      [{ ip: { ip_type: 1, ip_str: ['192.0.2'] } }, 'field set[ip][ip_str][0] is invalid'],
      [{ ip: { ip_typ: 1 } }, `field set[ip][ip_typ] is invalid: expected ${names}"ip_typ"`],
      [{ ipp: { ip_type: 1 } }, `field set[ipp] is invalid: expected ${names}"ipp"`],
      [{ ip: 1 }, `field set[ip] is invalid: expected ${names}1`],
    ];
    for (const [set, text] of refused) {
      const { errorCode, body } = await change(set);
      assert.ok(errorCode !== undefined && String(body['info']).includes(text), `${body['info']} has not ${text}`);
    }
    assert.match(
      String((await change([] as unknown as Fields)).body['info']),
      /field set is invalid: expected an object/,
    );
  });

  test('whatever is answered can be sent back, and empties lists of rules that are off', async (t) => {
    const { change, settings } = await start(t);
    const first = await settings();
    await change({
      referer: { referer_type: 1, referer_blank: 0, referer_str: 'bad.example' },
      ua: { ua_control: 1, ua_str: 'curl' },
      policies: { use_header_setting: 0, policy: [{ is_cache: 0, policy_type: 'suffix', content: 'php' }] },
      origin: { backup: ['b.example'], sourcehost: 'h.example', monitor_url: 'http://a.example/up' },
    });
    const second = await settings();
    assert.notDeepEqual(second['settings'], first['settings']);
    await change(first['settings'] as Fields);
    assert.deepEqual((await settings())['settings'], first['settings']);
    await change(second['settings'] as Fields);
    assert.deepEqual((await settings())['settings'], second['settings']);
    assert.deepEqual(
      Object.keys(Object(first['settings'])),
      SETTING_TOPICS.filter((topic) => topic !== 'recording'),
    );
  });

  test('one of two editors at once is refused, and learns the author and the time of the change', async (t) => {
    const { api, change, settings } = await start(t);
    const { revision } = await settings();
    api.now += 60_000;
    const answers = await Promise.all(
      [{ advanced: { expires: 1 } }, { cache: { heuristic_cap: 1 } }].map((set) =>
        change(set, { if_revision: revision }),
      ),
    );
    const refused = answers.filter(({ errorCode }) => errorCode === 'revisionChanged');
    assert.equal(refused.length, 1);
    const time = new Date(api.now).toISOString();
    assert.match(
      String(refused[0]?.body['info']),
      new RegExp(`not ${revision} \\(changed by token at ${time}\\); the current`),
    );
    const { changed_at, changed_by } = await settings();
    assert.equal(changed_at, api.now);
    assert.partialDeepStrictEqual(changed_by, { actor: 'token', operation: 'domain.change' });
  });

  test('a domain is added with settings of every topic in one revision', async (t) => {
    const { mine, theirs } = await start(t);
    const set = {
      advanced: { expires: 9 },
      referer: { referer_type: 2, referer_blank: 1, referer_str: 'good.example' },
    };
    const id = await add(mine, 'b.example', { set });
    const { list } = dataOf(await mine('domain.listRevisions', { domain_id: id }));
    assert.equal(Array.isArray(list) && list.length, 1);
    assert.partialDeepStrictEqual(
      dataOf(await mine('domain.settings', { domain_id: id }))['settings'],
      set.referer && {
        advanced: { expires: '9' },
        referer: { referer_type: '2', referer_str: 'good.example' },
      },
    );
    const refused = await mine('domain.add', {
      domain: 'c.example',
      cdn_type: 1,
      data: 'o.example',
      set: { ip: { ip_type: 7 } },
    });
    assert.match(String(refused.body['info']), /field set\[ip\]\[ip_type\] is invalid/);
    assert.deepEqual(dataOf(await mine('domain.list', { name: 'c.example' }))['list'], []);
    for (const name of ['domain.settings', 'domain.listRevisions'] as const)
      assert.equal((await theirs(name, { domain_id: id })).errorCode, 'domainNotFound');
  });

  test('revisions are listed with their authors, compared, and set back in part or as a whole', async (t) => {
    const { api, mine, id, change, settings } = await start(t);
    const first = await settings();
    api.now += 1000;
    await change({ advanced: { expires: 1, page_compress: 1 } });
    const second = await settings();
    api.now += 1000;
    await change({ advanced: { expires: 2 }, cache: { heuristic_cap: 7 } });
    const { list } = dataOf(await mine('domain.listRevisions', { domain_id: id, page_size: 2 }));
    assert.ok(Array.isArray(list));
    assert.deepEqual(
      list.map(({ changed_at, changed_by }) => [changed_at, changed_by.operation]),
      [
        [api.now, 'domain.change'],
        [api.now - 1000, 'domain.change'],
      ],
    );
    const older = dataOf(await mine('domain.listRevisions', { domain_id: id, before: list[1].revision }));
    assert.partialDeepStrictEqual(older, { list: [{ revision: first['revision'] }], next: '' });
    const at = { domain_id: id, revision: second['revision'] };
    assert.deepEqual(dataOf(await mine('domain.getRevision', at))['settings'], second['settings']);
    const compared = await mine('domain.compare', {
      domain_id: id,
      from_revision: first['revision'],
      to_revision: second['revision'],
    });
    assert.deepEqual(dataOf(compared)['changes'], [
      { topic: 'advanced', name: 'page_compress', before: '0', after: '1' },
      { topic: 'advanced', name: 'expires', before: '0', after: '1' },
    ]);
    const revert = (more: Fields) => mine('domain.revert', { domain_id: id, to_revision: first['revision'], ...more });
    const dry = dataOf(await revert({ dry_run: 1 }));
    assert.equal(Array.isArray(dry['changes']) && dry['changes'].length, 3);
    assert.deepEqual(dataOf(await revert({ names: 'advanced.expires' }))['changes'], [
      { topic: 'advanced', name: 'expires', before: '2', after: '0' },
    ]);
    assert.partialDeepStrictEqual((await settings())['settings'], {
      advanced: { page_compress: '1' },
      cache: { heuristic_cap: '7' },
    });
    assert.equal((await revert({ if_revision: first['revision'] })).errorCode, 'revisionChanged');
    assert.deepEqual(dataOf(await revert({}))['left_out'], []);
    assert.deepEqual((await settings())['settings'], first['settings']);
    const missing = await mine('domain.getRevision', { domain_id: id, revision: 1_000_000 });
    assert.equal(missing.errorCode, 'domainRevisionNotFound');
  });

  test('settings whose certificate was deleted are left out when they are set back', needs('openssl'), async (t) => {
    const { api, me, mine, id, change, settings } = await start(t);
    const { ssl_key } = await addTestCertificate(t, api, me.accessToken, ['a.example']);
    await change({ ssl: { ssl_control: 1, ssl_key, hsts_max_age: 60 }, advanced: { expires: 5 } });
    const { revision } = await settings();
    await change({ ssl: { ssl_control: 0, hsts_max_age: 0 }, advanced: { expires: 0 } });
    await mine('certificate.delete', { ssl_key });
    const reverted = dataOf(await mine('domain.revert', { domain_id: id, to_revision: revision }));
    assert.deepEqual(reverted['left_out'], [
      { topic: 'ssl', name: 'ssl_control', earlier: '1' },
      { topic: 'ssl', name: 'ssl_key', earlier: ssl_key },
    ]);
    assert.partialDeepStrictEqual((await settings())['settings'], {
      advanced: { expires: '5' },
      ssl: { ssl_control: '0', ssl_key: '', hsts_max_age: '60' },
    });
  });

  test('200 revisions of a domain are kept, and all of the last 30 days', async (t) => {
    const { api, id, change } = await start(t);
    const count = async () =>
      (await api.db.query.selectFrom('domain_revision').selectAll().where('domain_id', '=', Number(id)).execute())
        .length;
    for (let expires = 1; expires <= 205; expires++) await change({ advanced: { expires } });
    assert.equal(await count(), 206);
    api.now += 31 * DAY_MS;
    await change({ advanced: { expires: 0 } });
    assert.equal(await count(), 200);
  });

  test('a domain that is changed all the time has at most 1,000 revisions, the newest', async (t) => {
    const { api, id, change } = await start(t);
    const row = { domain_id: Number(id), made_at: api.now, settings: '{}' };
    for (let from = 100; from < 1200; from += 100)
      await api.db.query
        .insertInto('domain_revision')
        .values(Array.from({ length: 100 }, (_, n) => ({ ...row, revision: from + n - 100_000 })))
        .execute();
    await change({ advanced: { expires: 1 } });
    const kept = await api.db.query.selectFrom('domain_revision').select('revision').orderBy('revision').execute();
    assert.equal(kept.length, 1000);
    assert.equal(kept[0]?.revision, 1199 - 100_000 - 997);
  });

  test('the revisions of a deleted domain are kept for 30 days', async (t) => {
    const { api, mine, id } = await start(t);
    await mine('domain.delete', { domain_id: id });
    const count = async () => (await api.db.query.selectFrom('domain_revision').selectAll().execute()).length;
    await tidy(api.db, api.now + 30 * DAY_MS);
    assert.equal(await count(), 1);
    await tidy(api.db, api.now + 30 * DAY_MS + 1);
    assert.equal(await count(), 0);
  });
});
