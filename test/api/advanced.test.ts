/** A domain's advanced configuration over HTTP, on both engines: what is accepted, what is kept, what edges get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readConfigHead } from '#db/tables/resources.ts';
import { add, dataOf, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { ADVANCED_OFF } from '../support/edge/advanced.ts';

const PAGE = '<h1>不行 🚫</h1>';
const KIB_64 = 65_536;

describeOnBothEngines('advanced configuration', (newDatabase) => {
  test('a new domain has every switch off', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    assert.partialDeepStrictEqual(dataOf(await mine('config.getAdvanced', { domain_id: id })), {
      keep_url_params: '0',
      prefix_cache_first: '0',
      ssl_control: '0',
      redirect_follow: '0',
      page_compress: '0',
      range_back_source: '0',
      forbid_http_code: '',
      forbid_redirect_url: '',
      access_control_max_age: '0',
      expires: '0',
    });
  });

  test('advanced settings are read back as text by both reads, and reach the edges', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const answer = await mine('config.setAdvanced', {
      ...ADVANCED_OFF,
      domain_id: id,
      keep_url_params: 1,
      prefix_cache_first: '1',
      redirect_follow: 0,
      page_compress: '1',
      range_back_source: '0',
      expires: '31536000',
      access_control_max_age: 600,
      forbid_http_code: 302,
      forbid_redirect_url: 'https://sorry.example/例?x=1',
    });
    assert.deepEqual(answer.body, { status: 1, info: 'success', data: true });
    const expected = {
      keep_url_params: '1',
      prefix_cache_first: '1',
      redirect_follow: '0',
      page_compress: '1',
      range_back_source: '0',
      expires: '31536000',
      access_control_max_age: '600',
      forbid_http_code: '302',
      forbid_redirect_url: 'https://sorry.example/例?x=1',
    };
    for (const read of [dataOf(await mine('config.getAdvanced', { domain_id: id })), await show(mine, id)])
      for (const [field, value] of Object.entries(expected)) assert.equal(read[field], value, field);
    const spec = await specOf(api, 'a.example');
    assert.partialDeepStrictEqual(spec, {
      ignoresQuery: true,
      redirectFollow: false,
      pageCompress: true,
      rangeBackSource: false,
      expiresSeconds: 31_536_000,
      accessControlMaxAgeSeconds: 600,
      caching: { prefixFirst: true },
      access: { refusal: { kind: 'redirect', url: 'https://sorry.example/例?x=1' } },
    });
  });

  test('a custom page is kept if it is left out, replaced if it is sent, and dropped if it is sent empty', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (changed: Record<string, unknown>) =>
      mine('config.setAdvanced', { ...ADVANCED_OFF, domain_id: id, ...changed });
    const refused = await set({ forbid_http_code: '403' });
    assert.equal(refused.errorCode, 'fieldMissing', 'there is none to keep');
    assert.match(String(refused.body['info']), /^field html_403 is missing: expected HTML .*only if a page is stored$/);
    const rows: readonly [Record<string, unknown>, string][] = [
      [{ forbid_http_code: 403, html_403: PAGE }, PAGE],
      [{ forbid_http_code: '403' }, PAGE],
      [{ forbid_http_code: '403', html_403: null }, PAGE],
      [{ forbid_http_code: '302', forbid_redirect_url: 'http://a.example/' }, PAGE],
      [{}, PAGE],
      [{ forbid_http_code: '403', html_403: 'x' }, 'x'],
      [{ html_403: '' }, ''],
    ];
    for (const [changed, page] of rows) {
      assert.equal((await set(changed)).body['data'], true, JSON.stringify(changed));
      assert.equal((await show(mine, id))['html_403'], page, JSON.stringify(changed));
    }
    assert.equal((await set({ forbid_http_code: '403' })).errorCode, 'fieldMissing', 'it was dropped');
    await set({ forbid_http_code: '403', html_403: PAGE });
    assert.equal((await set({ forbid_http_code: '403', html_403: '' })).errorCode, 'fieldInvalid');
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), {
      access: { refusal: { kind: 'page', html: PAGE } },
    });
    await set({});
    assert.doesNotMatch(JSON.stringify(await specOf(api, 'a.example')), /refusal/, 'a plain 403');
  });

  test('a redirect address is needed for 302, and is kept for the next 302', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (changed: Record<string, unknown>) =>
      mine('config.setAdvanced', { ...ADVANCED_OFF, domain_id: id, ...changed });
    await set({ forbid_http_code: '302', forbid_redirect_url: 'http://b.example/' });
    await set({});
    assert.equal((await show(mine, id))['forbid_redirect_url'], 'http://b.example/');
    const again = await set({ forbid_http_code: '302' });
    assert.equal(again.errorCode, 'fieldMissing', 'the document wants it each time');
    assert.match(String(again.body['info']), /^field forbid_redirect_url is missing/);
    assert.equal((await set({ forbid_http_code: '302', forbid_redirect_url: '' })).errorCode, 'fieldInvalid');
    await set({ forbid_redirect_url: '' });
    assert.equal((await show(mine, id))['forbid_redirect_url'], '');
  });

  test('each limit of the advanced settings holds, and a refused call changes nothing', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (changed: Record<string, unknown>) =>
      mine('config.setAdvanced', { ...ADVANCED_OFF, domain_id: id, ...changed });
    const { revision } = await readConfigHead(api.db.query);
    const rows: readonly [Record<string, unknown>, RegExp][] = [
      [{ expires: 31_536_001 }, /^field expires .*0 to 31536000/],
      [{ expires: -1 }, /^field expires /],
      [{ expires: '1.5' }, /^field expires /],
      [{ expires: '' }, /^field expires /],
      [{ access_control_max_age: '31536001' }, /^field access_control_max_age .*0 to 31536000/],
      [{ forbid_http_code: 404 }, /^field forbid_http_code .*302 \(redirect\), 403/],
      [{ page_compress: 2 }, /^field page_compress .*0 \(off\) or 1 \(on\)/],
      [{ page_compress: 'on' }, /^field page_compress /],
      [{ forbid_http_code: 302, forbid_redirect_url: '/sorry' }, /^field forbid_redirect_url .*http:\/\/ or https:/],
      [{ forbid_http_code: 302, forbid_redirect_url: 'http://a.example/\r\nX: 1' }, /^field forbid_redirect_url /],
      [{ forbid_http_code: 302, forbid_redirect_url: 'javascript:alert(1)' }, /^field forbid_redirect_url /],
      [{ html_403: 'a'.repeat(KIB_64 + 1) }, /^field html_403 .*65536 bytes/],
      [{ html_403: '例'.repeat(KIB_64 / 3 + 1) }, /^field html_403 .*65536 bytes/],
    ];
    for (const [changed, info] of rows) {
      const answer = await set(changed);
      assert.equal(answer.errorCode, 'fieldInvalid', JSON.stringify(changed).slice(0, 100));
      assert.match(String(answer.body['info']), info);
      assert.equal(answer.body['data'], false);
    }
    assert.equal((await readConfigHead(api.db.query)).revision, revision, 'nothing was published');
    assert.equal((await set({ access_control_max_age: '31536000' })).body['data'], true, 'exactly a year');
    for (const html of ['a'.repeat(KIB_64), '例'.repeat(KIB_64 / 3)])
      assert.equal((await set({ html_403: html })).body['data'], true, 'exactly 64 KiB');
  });
});
