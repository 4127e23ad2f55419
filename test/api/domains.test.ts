/** The rules of names, origins and ownership over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteName } from '#contract/routes.ts';

import { readConfigHead } from '#db/tables/resources.ts';
import { NO_RULES } from '#model/rules.ts';
import { defaultsOf, SITE_SETTINGS } from '#model/settings.ts';

import { add, type CallAs, dataOf, SETTINGS, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

describeOnBothEngines('domains', (newDatabase) => {
  test('a new domain reads with every documented field in its type', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const id = await add((name, request) => api.call(name, me.accessToken, request), 'WWW.Example.com', {
      icp_no: '京ICP备12345678号-1',
      data: '203.0.113.10:8080\r\norigin.example.net\n',
      backup: ['[2001:db8::1]:81'],
      monitor_url: 'http://elsewhere.example/health?x=1',
      remark: '官网 🚀',
    });
    const answer = await api.post('/domain/getDomainById', { access_token: me.accessToken, domain_id: Number(id) });
    assert.partialDeepStrictEqual(answer.body, {
      status: 1,
      info: '操作成功',
      data: {
        domain_id: id,
        domain_name: 'www.example.com',
        cname: 'www.example.com.cdn.example',
        cdn_type_id: '1',
        cdn_type: '静态加速',
        icp_no: '京ICP备12345678号-1',
        source_type: 'http',
        origin: ['203.0.113.10:8080', 'origin.example.net'],
        backup: ['[2001:db8::1]:81'],
        port: '8080',
        sourcehost: 'www.example.com',
        domain_status: 1,
        status: '配置中',
        monitor_url: 'http://elsewhere.example/health?x=1',
        keep_url_params: '0',
        prefix_cache_first: '0',
        ssl_control: '0',
        redirect_follow: '0',
        page_compress: '0',
        range_back_source: '0',
        expires: '0',
        access_control_max_age: '0',
        forbid_http_code: '',
        forbid_redirect_url: '',
        html_403: '',
        is_extensive: '1',
        remark: '官网 🚀',
        create_time: '2026-01-31 12:00:00',
      },
    });
    assert.deepEqual(await specOf(api, 'www.example.com'), {
      id: Number(id),
      name: 'www.example.com',
      type: 'static',
      state: 'open',
      origins: {
        protocol: 'http',
        primary: [{ host: '203.0.113.10', port: 8080 }, { host: 'origin.example.net' }],
        backup: [{ host: '2001:db8::1', port: 81 }],
        hostHeader: '',
        probePath: '/health?x=1',
      },
      cache: {
        setCookie: 'bypass',
        requestDirectives: false,
        heuristicCapSeconds: 3600,
        staleCapSeconds: 86_400,
        normalizeVary: true,
        matchLanguage: false,
      },
      caching: { followsOrigin: true, prefixFirst: false, policies: [] },
      access: {},
      ...NO_RULES,
      ...defaultsOf(SITE_SETTINGS),
    });
  });

  test('a domain is read as it was written: names, types, protocols, ports', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase, { domainStatusAs: 'string', timeZone: 'UTC' });
    const rows: readonly [Record<string, unknown>, Record<string, unknown>][] = [
      [
        { domain: '*.wild.example' },
        {
          domain_name: '*.wild.example',
          is_extensive: '0',
          sourcehost: '',
          cname: '_wildcard.wild.example.cdn.example',
        },
      ],
      [{ domain: '.dot.example' }, { domain_name: '*.dot.example', is_extensive: '0' }],
      [{ domain: '例子.example' }, { domain_name: 'xn--fsqu00a.example', cname: 'xn--fsqu00a.example.cdn.example' }],
      [
        { domain: 't2.example', cdn_type: 2 },
        { cdn_type_id: '2', cdn_type: 'download' },
      ],
      [{ domain: 't3.example', cdn_type: '3' }, { cdn_type_id: '3' }],
      [
        { domain: 't4.example', cdn_type: '4', data: undefined },
        { cdn_type_id: '4', origin: [], port: undefined },
      ],
      [
        { domain: 't6.example', cdn_type: '6' },
        { cdn_type_id: '6', cdn_type: 'dynamic', port: undefined },
      ],
      [
        { domain: 'p1.example', data: '203.0.113.9' },
        { port: '80', source_type: 'http' },
      ],
      [
        { domain: 'p2.example', data: ['203.0.113.9'], source_type: 'https' },
        { port: '443', source_type: 'https' },
      ],
      [
        { domain: 'p3.example', data: '[2001:db8::9]:7', source_type: 'protocol_follow' },
        { port: '7', source_type: 'protocol_follow' },
      ],
      [{ domain: 'm.example', monitor_url: 'http://a.example/é|ü' }, { monitor_url: 'http://a.example/é|ü' }],
      [{ domain: 'b.example', data: [...Array(51).fill(''), 'x.example'] }, { origin: ['x.example'] }],
      [{ domain: 'p4.example', data: ['x.example:81', '203.0.113.9'] }, { port: undefined }],
      [{ domain: 'h1.example', sourcehost: 'Origin.Example' }, { sourcehost: 'origin.example' }],
      [
        { domain: 'h2.example', sourcehost: 'origin.example:8080', icp_no: 123 },
        { sourcehost: 'origin.example:8080', icp_no: '123' },
      ],
      [
        { domain: 'n.example', backup: '', source_type: '', sourcehost: '', monitor_url: '', remark: null },
        { backup: [], source_type: 'http', monitor_url: '', remark: '' },
      ],
      [
        { domain: 's.example' },
        { domain_status: '1', status: 'being configured', create_time: '2026-01-31 04:00:00', ssl_key: undefined },
      ],
    ];
    for (const [written, expected] of rows) {
      const read = await show(mine, await add(mine, String(written['domain']), written));
      for (const [field, value] of Object.entries(expected))
        assert.deepEqual(read[field], value, `${written['domain']} ${field}`);
    }
  });

  test('an invalid name, origin or host is refused with the reason', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const rows: readonly [Record<string, unknown>, string, RegExp][] = [
      [{ domain: 'com' }, 'domainNameInvalid', /needs at least two parts/],
      [{ domain: '*.com' }, 'domainNameInvalid', /needs at least two parts/],
      [{ domain: '.co.uk' }, 'domainNameInvalid', /public suffix/],
      [{ domain: '*.github.io' }, 'domainNameInvalid', /public suffix/],
      [{ domain: '*.kawasaki.jp' }, 'domainNameInvalid', /public suffix/],
      [{ domain: 'a.cdn.example' }, 'domainNameInvalid', /own aliases, cdn\.example/],
      [{ domain: `${'a.'.repeat(120)}example` }, 'domainNameInvalid', /its alias would have 259 characters/],
      [{ domain: '203.0.113.1' }, 'domainNameInvalid', /IP address/],
      [{ domain: 'a..b' }, 'domainNameInvalid', /1 to 63/],
      [{ domain: `${'a'.repeat(64)}.example` }, 'domainNameInvalid', /host name|1 to 63/],
      [{ domain: 'http://a.example' }, 'domainNameInvalid', /has a scheme/],
      [{ domain: 'a.*.example' }, 'domainNameInvalid', /host names cannot have/],
      [{ data: [] }, 'originsMissing', /at least one origin/],
      [{ data: ' \n \r\n' }, 'originsMissing', /at least one origin/],
      [{ data: undefined }, 'originsMissing', /at least one origin/],
      [
        { data: ['ok.example', 'http://b.example'] },
        'originInvalid',
        /^field data\[1\] .*but "http:\/\/b\.example" has a scheme/,
      ],
      [{ data: 'ok.example\nbad_port:0' }, 'originInvalid', /^field data\[1\]/],
      [{ data: 'a.example,b.example' }, 'originInvalid', /^field data\[0\]/],
      [{ backup: ['2001:db8::1'] }, 'originInvalid', /^field backup\[0\] .*brackets/],
      [{ backup: Array(51).fill('a.example') }, 'fieldInvalid', /^field backup .*at most 50/],
      [{ data: 'a.example\n'.repeat(51) }, 'fieldInvalid', /^field data .*at most 50/],
      [{ data: Array(200_000).fill(1) }, 'fieldInvalid', /^field data .*at most 50/],
      [{ sourcehost: 'a b' }, 'originInvalid', /^field sourcehost/],
      [{ sourcehost: 'https://a.example' }, 'originInvalid', /^field sourcehost/],
      [{ monitor_url: 'ftp://a.example/' }, 'fieldInvalid', /^field monitor_url/],
      [{ monitor_url: 'http://me:secret@a.example/' }, 'fieldInvalid', /^field monitor_url .*without a user name/],
      [{ monitor_url: `http://a.example/${'例'.repeat(200)}` }, 'fieldInvalid', /^field monitor_url .*percent-encoded/],
      [{ monitor_url: 'http://a.example/a b' }, 'fieldInvalid', /^field monitor_url/],
      [{ monitor_url: `http://a.example/${'a'.repeat(1024)}` }, 'fieldInvalid', /^field monitor_url/],
      [{ icp_no: '1'.repeat(65) }, 'fieldInvalid', /^field icp_no .*64/],
      [{ remark: '1'.repeat(256) }, 'fieldInvalid', /^field remark .*255/],
      [{ cdn_type: 5 }, 'fieldInvalid', /^field cdn_type .*6 \(dynamic\)/],
      [{ source_type: 'tcp' }, 'fieldInvalid', /^field source_type .*protocol_follow/],
    ];
    for (const [changed, code, info] of rows) {
      const answer = await mine('domain.add', { ...SETTINGS, domain: 'a.example', ...changed });
      const where = `${JSON.stringify(changed).slice(0, 100)} → ${JSON.stringify(answer.body)}`;
      assert.equal(answer.errorCode, code, where);
      assert.match(String(answer.body['info']), info, where);
      assert.deepEqual(answer.body['data'], {});
    }
    assert.equal((await readConfigHead(api.db.query)).revision, 0, 'nothing was published');
    assert.equal(dataOf(await mine('domain.list', {}))['total'], 0);
  });

  test('a name belongs to one account, with its wildcard and the names under it', async (t) => {
    const { mine, theirs } = await startWithCustomers(t, newDatabase);
    await add(mine, 'www.one.example');
    await add(mine, '*.two.example');
    await add(mine, 'deep.two.example'); // under one's own wildcard
    const rows: readonly [CallAs, string, string][] = [
      [mine, 'WWW.one.example.', 'domainDuplicate'],
      [mine, '.two.example', 'domainDuplicate'],
      [theirs, 'www.one.example', 'domainNameTaken'],
      [theirs, '*.one.example', 'domainNameTaken'],
      [theirs, 'a.b.two.example', 'domainNameTaken'],
      [theirs, '*.a.two.example', 'domainNameTaken'],
      [theirs, '*.two.example', 'domainNameTaken'],
    ];
    for (const [call, domain, code] of rows) {
      const answer = await call('domain.add', { ...SETTINGS, domain });
      assert.equal(answer.errorCode, code, domain);
      assert.equal(/account_id|a customer|\b[12]\b/.test(String(answer.body['info'])), false, 'does not say whose');
    }
    await add(theirs, 'one.example');
    await add(theirs, 'two.example'); // a wildcard does not cover the apex
    await add(theirs, 'notwww.one.example');
  });

  test('one of two accounts that add a name at the same time gets it', async (t) => {
    const { mine, theirs } = await startWithCustomers(t, newDatabase);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? mine : theirs)('domain.add', {
          ...SETTINGS,
          domain: index % 3 === 0 ? '*.race.example' : 'a.race.example',
        }),
      ),
    );
    const winners = answers.filter(({ body }) => body['status'] === 1);
    assert.ok(winners.length === 1 || winners.length === 2, `${winners.length} won`);
    const totals = await Promise.all([mine('domain.list', {}), theirs('domain.list', {})]);
    assert.deepEqual(
      totals.map((answer) => dataOf(answer)['total']).sort(),
      [0, winners.length],
      'and one account only',
    );
  });

  test('changing origins keeps omitted fields and resets empty ones', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example', { backup: 'b.example', source_type: 'https', sourcehost: 'h.example' });
    const rows: readonly [Record<string, unknown>, Record<string, unknown>][] = [
      [
        { data: ['new.example'] },
        { origin: ['new.example'], backup: ['b.example'], source_type: 'https', sourcehost: 'h.example' },
      ],
      [
        { data: 'x.example', backup: [] },
        { origin: ['x.example'], backup: [], source_type: 'https' },
      ],
      [{ data: 'x.example', backup: 'c.example\nd.example' }, { backup: ['c.example', 'd.example'] }],
      [{ data: 'x.example', backup: '' }, { backup: [] }],
      [
        { data: 'x.example', source_type: '' },
        { source_type: 'http', sourcehost: 'h.example' },
      ],
      [{ data: 'x.example', sourcehost: '' }, { sourcehost: 'a.example' }],
      [
        { data: '203.0.113.1', source_type: 'protocol_follow' },
        { port: '80', source_type: 'protocol_follow' },
      ],
    ];
    for (const [written, expected] of rows) {
      const before = (await readConfigHead(api.db.query)).revision;
      const answer = await mine('domain.updateOrigin', { domain_id: id, ...written });
      assert.deepEqual(answer.body, { status: 1, info: 'success', data: true });
      assert.equal((await readConfigHead(api.db.query)).revision, before + 1);
      const read = await show(mine, id);
      for (const [field, value] of Object.entries(expected))
        assert.deepEqual(read[field], value, JSON.stringify(written));
    }
    const live = await add(mine, 'live.example', { cdn_type: 4 });
    assert.equal((await mine('domain.updateOrigin', { domain_id: live, data: [] })).body['data'], true);
    assert.deepEqual((await show(mine, live))['origin'], [], 'a live domain may be fed by its encoders alone');
    for (const data of [[], '', [''], ['bad origin']]) {
      const before = await show(mine, id);
      const answer = await mine('domain.updateOrigin', { domain_id: id, data });
      assert.deepEqual([answer.body['status'], answer.body['data']], [0, false]);
      assert.deepEqual(await show(mine, id), before);
    }
  });

  test("another account's domain, a deleted one and one that never existed get the same answer", async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const foreign = await add(theirs, 'theirs.example');
    const gone = await add(mine, 'gone.example');
    assert.equal((await mine('domain.delete', { domain_id: gone })).body['data'], true);
    assert.equal(await specOf(api, 'gone.example'), undefined);
    const before = [await show(theirs, foreign), (await readConfigHead(api.db.query)).revision];
    const requests: readonly [RouteName, Record<string, unknown>][] = [
      ['domain.get', {}],
      ['domain.updateOrigin', { data: ['x.example'] }],
      ['domain.delete', {}],
      ['domain.setStatus', { domain_status: 0 }],
      ['domain.setRemark', { remark: 'x' }],
    ];
    for (const [name, request] of requests) {
      for (const id of [foreign, gone, '2147483647']) {
        const answer = await mine(name, { domain_id: id, ...request });
        assert.equal(answer.errorCode, 'domainNotFound');
        assert.equal(answer.body['info'], `domain ${id} does not exist`);
        assert.deepEqual(answer.body['data'], name === 'domain.get' ? {} : false);
      }
    }
    assert.deepEqual([await show(theirs, foreign), (await readConfigHead(api.db.query)).revision], before);
    // The name is free again, for anyone, under a new id.
    assert.notEqual(await add(theirs, 'gone.example'), gone);
  });
});
