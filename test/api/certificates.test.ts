/** Certificates through the interface on both engines: adding, listing, binding, deleting, and what nobody ever sees. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { giveCertificate } from '#api/settings/give-certificate.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { parseChain } from '#model/certificate.ts';
import { parsePrivateKey } from '#model/private-key.ts';
import { add, dataOf, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { createAuthority, type TestAuthority } from '../support/certificates/certificate.ts';
import { formsOf } from '../support/certificates/secret-forms.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

type Pair = ReturnType<TestAuthority['issue']>;

const RSA = { isRsa: true };
const ADDED = { ssl_title: 'a title', private_key: '', certificate: '' };

function requestOf({ key, cert }: Pair, title = 'a title') {
  return { ...ADDED, ssl_title: title, private_key: key, certificate: cert };
}

describeOnBothEngines('certificates', (newDatabase) => {
  test('a certificate is added once, listed and deleted, by its owner only', needs('openssl'), async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    api.now = Date.now();
    const authority = createAuthority(t);
    const pair = authority.issue(['*.example.com', 'example.com'], { hasIntermediate: true });
    const { ssl_key } = dataOf(await mine('certificate.add', requestOf(pair, '标题')));
    const again = dataOf(await mine('certificate.add', requestOf(pair, 'another title')));
    assert.equal(again['ssl_key'], ssl_key);
    api.now += 1;
    const second = dataOf(await mine('certificate.add', requestOf(authority.issue(['b.example.com']), '标题')));
    assert.notEqual(second['ssl_key'], ssl_key);
    const leaf = new X509Certificate(pair.cert);
    const { body } = await mine('certificate.list', {});
    assert.deepEqual((body['data'] as unknown[])[0], {
      ssl_key,
      title: '标题',
      issuer: 'test intermediate',
      key_kind: 'ecdsa',
      validfrom_time: leaf.validFromDate.getTime() / 1000,
      validto_time: leaf.validToDate.getTime() / 1000,
      subjectaltname: '*.example.com,example.com',
      status: 'Unused',
      status_name: 'not in use',
    });
    assert.deepEqual((await theirs('certificate.list', {})).body['data'], []);
    assert.notEqual(dataOf(await theirs('certificate.add', requestOf(pair)))['ssl_key'], ssl_key);
    const foreign = await theirs('certificate.delete', { ssl_key });
    assert.deepEqual([foreign.errorCode, foreign.body['data']], ['certificateNotFound', false]);
    const domain = await add(theirs, 'www.example.com');
    const bound = await theirs('config.setSsl', { domain_id: domain, ssl_control: 1, ssl_key });
    assert.deepEqual([bound.errorCode, bound.body['data']], ['certificateNotFound', false]);
    assert.equal((await mine('certificate.delete', { ssl_key })).body['data'], true);
    assert.equal((await mine('certificate.delete', { ssl_key })).errorCode, 'certificateNotFound');
    api.now += 3 * 24 * 3600 * 1000;
    const [left] = (await mine('certificate.list', {})).body['data'] as Record<string, unknown>[];
    assert.deepEqual([left?.['status'], left?.['status_name']], ['Expired', 'expired']);
  });

  test('a domain uses a certificate that covers it, which cannot be deleted meanwhile', needs('openssl'), async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    api.now = Date.now();
    const authority = createAuthority(t);
    const keyFor = async (...names: string[]) =>
      String(dataOf(await mine('certificate.add', requestOf(authority.issue(names))))['ssl_key']);
    const [wild, exact] = [await keyFor('*.example.com'), await keyFor('www.example.com', 'example.com')];
    const [www, deep, any] = [
      await add(mine, 'www.example.com'),
      await add(mine, 'a.www.example.com'),
      await add(mine, '*.example.com'),
    ];
    const set = async (id: string, request: Record<string, unknown>) =>
      (await mine('config.setSsl', { domain_id: id, ...request })).errorCode;
    assert.equal(await set(www, { ssl_control: 1 }), 'fieldMissing');
    assert.equal(await set(deep, { ssl_control: 1, ssl_key: wild }), 'certificateNotCovering');
    assert.equal(await set(any, { ssl_control: 1, ssl_key: exact }), 'certificateNotCovering');
    assert.equal(await set(any, { ssl_control: 1, ssl_key: wild }), undefined);
    assert.equal(await set(www, { ssl_control: '1', ssl_key: wild, force_https: 1, hsts_max_age: '60' }), undefined);

    await api.acknowledge('local');
    assert.equal((await show(mine, www))['domain_status'], 2);
    const head = await readConfigHead(api.db.query);
    const rejected = [{ kind: 'certificate', key: wild, revision: head.revision, error: 'it does not open' }];
    const report = { edge: 'local', at: head, appliedRevision: head.revision, rejected, build: 'test', origins: [] };
    await recordEdgeStatus(api.db.query, { ...report, startedAt: api.now }, api.now);
    assert.equal((await show(mine, www))['domain_status'], 1, 'an edge cannot use its certificate');
    assert.equal((await show(mine, deep))['domain_status'], 2);

    const shown = await show(mine, www);
    assert.deepEqual([shown['ssl_control'], shown['ssl_key']], ['1', wild]);
    const advanced = dataOf(await mine('config.getAdvanced', { domain_id: www }));
    assert.deepEqual([advanced['ssl_control'], 'ssl_key' in advanced], ['1', false]);
    assert.equal((await show(mine, deep))['ssl_control'], '0');
    assert.equal('ssl_key' in (await show(mine, deep)), false);
    const spec = (await specOf(api, 'www.example.com')) as { tls?: unknown };
    assert.deepEqual(spec.tls, {
      certificate: wild,
      forceHttps: true,
      hstsMaxAgeSeconds: 60,
      minVersion: '1.2',
    });
    const kept = await mine('certificate.delete', { ssl_key: wild });
    assert.equal(kept.errorCode, 'certificateInUse');
    assert.match(String(kept.body['info']), /used by \*\.example\.com, www\.example\.com and cannot be deleted/);

    // Another one in its place, and its options stay.
    assert.equal(await set(www, { ssl_control: 1, ssl_key: exact, tls_min_version: '1.3' }), undefined);
    assert.partialDeepStrictEqual(dataOf(await mine('config.getSsl', { domain_id: www })), {
      ssl_control: '1',
      ssl_key: exact,
      force_https: '1',
      hsts_max_age: '60',
      tls_min_version: '1.3',
    });
    assert.notEqual(await specOf(api, wild), undefined);
    assert.equal(await set(any, { ssl_control: 0, ssl_key: wild }), undefined);
    assert.equal(await specOf(api, wild), undefined);
    assert.equal((await mine('certificate.delete', { ssl_key: wild })).body['data'], true);
    // A domain that goes lets go of its certificate.
    assert.equal((await mine('domain.delete', { domain_id: www })).body['data'], true);
    assert.equal(await specOf(api, exact), undefined);
    assert.equal((await mine('certificate.delete', { ssl_key: exact })).body['data'], true);
  });

  test('a domain has a second certificate with another kind of key', needs('openssl'), async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    api.now = Date.now();
    const authority = createAuthority(t);
    const keyFor = async (options: Parameters<TestAuthority['issue']>[1], name = 'www.example.com') =>
      String(dataOf(await mine('certificate.add', requestOf(authority.issue([name], options))))['ssl_key']);
    const [ec, otherEc, rsa, otherRsa] = [await keyFor({}), await keyFor({}), await keyFor(RSA), await keyFor(RSA)];
    const elsewhere = await keyFor(RSA, 'other.example.com');
    const id = await add(mine, 'www.example.com');
    const set = async (request: Record<string, unknown>) => {
      const { errorCode, body } = await mine('config.setSsl', { domain_id: id, ssl_control: 1, ...request });
      return errorCode === undefined ? undefined : `${errorCode}: ${body['info']}`;
    };
    const keys = async () => {
      const data = dataOf(await mine('config.getSsl', { domain_id: id }));
      const shown = await show(mine, id);
      const { tls } = (await specOf(api, 'www.example.com')) as { tls?: Record<string, unknown> };
      const found = [data['ssl_key'], data['ssl_key_second']];
      assert.deepEqual([shown['ssl_key'], shown['ssl_key_second']], found);
      assert.deepEqual([tls?.['certificate'], tls?.['secondCertificate']], found);
      assert.equal('ssl_key_second' in data, found[1] !== undefined);
      return found;
    };
    assert.match((await set({ ssl_key_second: rsa })) ?? '', /^fieldMissing/);
    assert.equal(await set({ ssl_key: ec, ssl_key_second: rsa }), undefined);
    assert.deepEqual(await keys(), [ec, rsa]);
    assert.notEqual(await specOf(api, rsa), undefined, 'both are on the feed');
    for (const sslKey of [ec, rsa])
      assert.equal((await mine('certificate.delete', { ssl_key: sslKey })).errorCode, 'certificateInUse');
    const inUse = (await mine('certificate.list', {})).body['data'] as { ssl_key: string; status: string }[];
    assert.deepEqual(
      new Set(inUse.filter(({ status }) => status === 'InUse').map(({ ssl_key }) => ssl_key)),
      new Set([ec, rsa]),
    );

    for (const [request, refusal] of [
      [{ ssl_key_second: otherEc }, /^certificateSameKind: field ssl_key_second .* but both are ECDSA$/],
      [{ ssl_key: rsa, ssl_key_second: rsa }, /^certificateSameKind: /],
      [{ ssl_key_second: 'nothing' }, /^certificateNotFound: /],
      [{ ssl_key_second: elsewhere }, /^certificateNotCovering: field ssl_key_second /],
      [{ ssl_key_second: 'x'.repeat(129) }, /^fieldInvalid: field ssl_key_second is invalid: .* or empty for none/],
    ] as const) {
      assert.match((await set(request)) ?? '', refusal);
      assert.deepEqual(await keys(), [ec, rsa]);
    }
    // A call without it leaves it, unless the new first one is of its kind.
    assert.equal(await set({ ssl_key: otherEc }), undefined);
    assert.deepEqual(await keys(), [otherEc, rsa]);
    assert.equal(await set({ ssl_key: otherRsa }), undefined);
    assert.deepEqual(await keys(), [otherRsa, undefined]);
    assert.equal(await specOf(api, rsa), undefined);
    assert.equal(await set({ ssl_key: rsa, ssl_key_second: ec }), undefined);
    assert.equal((await set({ ssl_key_second: otherRsa }))?.split(':')[0], 'certificateSameKind');
    assert.equal(await set({ ssl_key: ec }), undefined, 'the second becomes the only one');
    assert.deepEqual(await keys(), [ec, undefined]);
    assert.equal(await set({ ssl_key_second: rsa }), undefined);
    api.now += 3 * 24 * 3600 * 1000;
    assert.equal(await set({ force_https: 1 }), undefined, 'what has expired stays');
    assert.match((await set({ ssl_key_second: otherRsa })) ?? '', /^certificateExpired: field ssl_key_second /);
    assert.equal(await set({ ssl_key_second: '' }), undefined);
    assert.deepEqual(await keys(), [ec, undefined]);
    api.now -= 3 * 24 * 3600 * 1000;
    // What an authority issues is ECDSA: it replaces the first one, and a second one of its kind.
    const obtain = async (sslKey: string) => {
      const { key, cert } = authority.issue(['www.example.com']);
      const parsed = parsePrivateKey(key);
      assert.ok(parsed.kind === 'key');
      const chain = parseChain(cert, parsed.key, api.now);
      assert.ok(chain.kind === 'chain');
      const pair = { ...chain, privateKey: parsed.key, domainId: Number(id), instead: sslKey, isReplaced: false };
      const parts = { ring: api.ring, maxCertificates: 100 };
      const given = await api.db.transaction((trx) => giveCertificate(trx, parts, { ...pair, now: api.now }));
      assert.ok(given.kind === 'given');
      return given.sslKey;
    };
    assert.equal(await set({ ssl_key_second: rsa }), undefined);
    const obtained = await obtain(ec);
    assert.deepEqual(await keys(), [obtained, rsa]);
    assert.equal(await set({ ssl_key: rsa, ssl_key_second: ec }), undefined);
    const renewed = await obtain(rsa);
    assert.deepEqual(await keys(), [renewed, undefined]);
    assert.equal(await set({ ssl_key: ec }), undefined);
    assert.equal((await mine('certificate.delete', { ssl_key: rsa })).body['data'], true);
    assert.equal(await set({ ssl_key_second: '', ssl_control: 0 }), undefined);
    assert.equal(await specOf(api, ec), undefined);
  });

  test(
    'an expired certificate cannot be bound, a bound one may expire, and a transferred domain loses it',
    needs('openssl'),
    async (t) => {
      const { api, me, other, mine, operate } = await startWithCustomers(t, newDatabase);
      api.now = Date.now();
      const authority = createAuthority(t);
      const pair = authority.issue(['www.example.com']);
      const { ssl_key } = dataOf(await mine('certificate.add', requestOf(pair)));
      const id = await add(mine, 'www.example.com');
      const set = (request: Record<string, unknown>) => mine('config.setSsl', { domain_id: id, ...request });
      api.now += 3 * 24 * 3600 * 1000;
      const refused = await set({ ssl_control: 1, ssl_key });
      assert.equal(refused.errorCode, 'certificateExpired');
      api.now -= 3 * 24 * 3600 * 1000;
      await set({ ssl_control: 1, ssl_key });
      api.now += 3 * 24 * 3600 * 1000;
      assert.equal((await set({ ssl_control: 1, force_https: 1 })).body['data'], true);
      const [listed] = (await mine('certificate.list', {})).body['data'] as Record<string, unknown>[];
      assert.equal(listed?.['status'], 'InUse');
      const transfer = { account_id: me.accountId, domain_id: id, to_account_id: other.accountId };
      assert.equal((await operate('operator.transferDomain', transfer)).errorCode, 'domainHasCertificate');
      await set({ ssl_control: 0 });
      assert.equal((await operate('operator.transferDomain', transfer)).body['data'], true);
    },
  );

  test('each refusal of a certificate names the field, and never shows the key', needs('openssl'), async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase, { limits: { certificatesPerAccount: 1 } });
    api.now = Date.now();
    const authority = createAuthority(t);
    const [pair, other] = [authority.issue(['a.example.com']), authority.issue(['b.example.com'])];
    const expired = authority.issue(['a.example.com'], { isExpired: true });
    const good = requestOf(pair);
    const answers: string[] = [];
    for (const [request, code, info] of [
      [{ ...good, ssl_title: '' }, 'fieldInvalid', /^field ssl_title is invalid/],
      [{ ...good, private_key: undefined }, 'fieldMissing', /^field private_key is missing/],
      [
        { ...good, private_key: 'x'.repeat(17_000) },
        'fieldInvalid',
        /^field private_key is invalid: expected .* at most 16384 bytes; found a text of 17000/,
      ],
      [
        { ...good, certificate: good.certificate.repeat(200) },
        'fieldInvalid',
        /^field certificate is invalid: .* at most 65536 bytes/,
      ],
      [
        { ...good, private_key: good.certificate },
        'pemInvalid',
        /^field private_key is invalid: .*, but it holds no private key, but CERTIFICATE$/,
      ],
      [
        { ...good, certificate: good.private_key },
        'pemInvalid',
        /^field certificate is invalid: .*, but it holds no certificate, but PRIVATE KEY$/,
      ],
      [{ ...good, ssl_title: good.private_key }, 'fieldInvalid', /^field ssl_title is invalid/],
      [
        { ...good, private_key: other.key },
        'pemInvalid',
        /^field private_key is invalid: .*, but it does not belong to the certificate$/,
      ],
      [
        { ...good, private_key: good.private_key.slice(0, 150) },
        'pemInvalid',
        /^field private_key .* without its END line/,
      ],
      [requestOf(expired), 'pemInvalid', /^field certificate is invalid: .*, but it expired at 2/],
      [{ ...good, private_key: [good.private_key] }, 'fieldInvalid', /^field private_key/],
    ] as const) {
      const answer = await mine('certificate.add', request);
      assert.equal(answer.errorCode, code);
      assert.match(String(answer.body['info']), info);
      assert.deepEqual(answer.body['data'], {});
      answers.push(JSON.stringify(answer.body));
    }
    const chinese = await api.post('/config/addCertificate', { access_token: 'x', ...good });
    assert.equal(chinese.errorCode, 'tokenUnknown');
    dataOf(await mine('certificate.add', good));
    assert.equal((await mine('certificate.add', requestOf(other))).errorCode, 'certificateLimit');
    dataOf(await mine('certificate.add', good));
    answers.push(JSON.stringify((await mine('certificate.list', {})).body), api.logLines.join('\n'));
    for (const form of [pair, other, expired].flatMap(({ key }) => formsOf(key)))
      assert.ok(!answers.some((text) => text.includes(form)), 'a private key is shown');
  });
});
