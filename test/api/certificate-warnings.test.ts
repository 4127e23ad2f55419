/** What is said of certificates that clients are likely to refuse, and which are not taken. docs/decisions/0431 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { dataOf, startWithCustomers } from '../support/api/customers.ts';
import { createAuthority, type TestAuthority } from '../support/certificates/certificate.ts';
import { newSqlite } from '../support/db/databases.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

type Warnings = readonly { readonly code: string; readonly text: string }[];

describe('certificates that clients refuse', needs('openssl'), () => {
  test('certificates that clients refuse are accepted with a warning for each reason', async (t) => {
    const { api, mine, me } = await startWithCustomers(t, newSqlite);
    api.now = Date.now();
    const authority = createAuthority(t);
    const names = ['www.example.com'];
    const rows: readonly (readonly [Parameters<TestAuthority['issue']>, codes: readonly string[], text?: RegExp])[] = [
      [[names], []],
      [
        [names, { hasIntermediate: true, extensions: ['extendedKeyUsage=serverAuth', 'keyUsage=digitalSignature'] }],
        [],
      ],
      // Browsers accept it, OpenSSL does not.
      [[names, { extensions: ['extendedKeyUsage=anyExtendedKeyUsage'] }], ['clientsRefuse']],
      [[names, { extensions: ['extendedKeyUsage=clientAuth'] }], ['notForServers'], /does not include servers/],
      [[names, { extensions: ['extendedKeyUsage=clientAuth,serverAuth'] }], []],
      [[names, { isRsa: true, extensions: ['keyUsage=keyEncipherment'] }], ['keyMayNotSign']],
      [[names, { extensions: ['nsCertType=client'] }], ['clientsRefuse'], /INVALID_PURPOSE$/],
      [[names, { extensions: ['1.2.3.4=critical,DER:05:00'] }], ['clientsRefuse']],
      [[names, { extensions: ['tlsfeature=status_request'] }], ['mustStaple']],
      [[names, { isEd25519: true }], ['keyNotInBrowsers']],
      [[names, { isSha1: true }], ['weakSignature'], /^the certificate "CN=test" is signed with SHA-1/],
      [[names, { days: 826 }], ['validTooLong'], /826 days/],
      [[names, { days: 825 }], []],
      [[[]], ['noNames']],
      [[['192.0.2.1']], ['noNames']],
      [[['*.internal', '*.co.uk', '*.github.io', 'a.example.com']], ['wildcardTooBroad', 'wildcardTooBroad']],
      [[names, { isIntermediateExpired: true, hasIntermediate: true }], ['intermediateExpired'], /expired at 2/],
      [[names, { intermediateExtensions: ['basicConstraints=CA:FALSE'] }], ['intermediateNotAuthority']],
      [
        [names, { intermediateExtensions: ['basicConstraints=CA:TRUE', 'nameConstraints=permitted;DNS:example.net'] }],
        ['clientsRefuse'],
      ],
    ];
    for (const [issue, codes, text] of rows) {
      const { key, cert } = authority.issue(...issue);
      // With its root it is nobody else's business who the issuer is.
      const added = await mine('certificate.add', requestOf(key, cert + authority.ca));
      const { ssl_key, warnings } = dataOf(added);
      const found = (warnings ?? []) as Warnings;
      assert.deepEqual(
        found.map(({ code }) => code),
        codes,
        JSON.stringify(issue),
      );
      assert.equal('warnings' in dataOf(added), codes.length > 0, 'a documented answer has no more fields');
      for (const warning of found) assert.doesNotMatch(warning.text, /[{}]/);
      if (text !== undefined) assert.match(found[0]?.text ?? '', text);
      assert.match(String(ssl_key), /^[0-9a-f]{32}$/);
    }
    const { key, cert } = authority.issue(names);
    api.now -= 10 * 24 * 3_600_000;
    const early = dataOf(await mine('certificate.add', requestOf(key, cert)))['warnings'] as Warnings;
    assert.deepEqual(
      early.map(({ code }) => code),
      ['notYetValid', 'issuerMissing'],
    );
    const chinese = await api.post('/config/addCertificate', { access_token: me.accessToken, ...requestOf(key, cert) });
    const [, told] = dataOf(chinese)['warnings'] as Warnings;
    assert.equal(
      told?.text,
      '签发者 "CN=test authority" 的证书不在文件中，该签发者也不是公认的证书颁发机构；不信任它的客户端会拒绝此证书',
    );
  });

  test('certificate warnings are shown when a domain gets the certificate and when it is read', async (t) => {
    const { api, mine } = await startWithCustomers(t, newSqlite);
    api.now = Date.now();
    const authority = createAuthority(t);
    const { domain_id } = dataOf(
      await mine('domain.add', { domain: 'www.example.com', cdn_type: '1', data: '192.0.2.1' }),
    );
    const keys: unknown[] = [];
    for (const options of [{}, { isRsa: true, extensions: ['extendedKeyUsage=clientAuth'] }]) {
      const { key, cert } = authority.issue(['www.example.com'], options);
      api.now += 1; // lists are in the order of addition
      keys.push(dataOf(await mine('certificate.add', requestOf(key, cert + authority.ca)))['ssl_key']);
    }
    const [good, bad] = keys;
    const text = 'the extended key usage of the certificate does not include servers, and clients refuse it';
    const warnings = [{ code: 'notForServers', text }];
    const set = async (chosen: Readonly<Record<string, unknown>>) => {
      const { body } = await mine('config.setSsl', { domain_id, ssl_control: 1, ...chosen });
      return [body['data'], body['info']];
    };
    const read = async () => dataOf(await mine('config.getSsl', { domain_id }))['warnings'];
    assert.deepEqual(await set({ ssl_key: good }), [true, 'success']);
    assert.equal(await read(), undefined);
    assert.deepEqual(await set({ ssl_key_second: bad }), [true, `success; ${text}`]);
    assert.deepEqual(await read(), warnings);
    assert.deepEqual(await set({ ssl_control: 0 }), [true, 'success']);
    assert.equal(await read(), undefined);
    const rows = async (page: Readonly<Record<string, unknown>>) =>
      (await mine('certificate.list', page)).body['data'] as { warnings?: unknown }[];
    assert.deepEqual(
      (await rows({ page: 1 })).map((row) => row.warnings),
      [undefined, warnings],
    );
    assert.deepEqual(
      (await rows({})).map((row) => row.warnings),
      [undefined, undefined],
    );
  });

  test('certificates with which no handshake can succeed are refused; a self-signed one is called so', async (t) => {
    const { api, mine } = await startWithCustomers(t, newSqlite);
    api.now = Date.now();
    const authority = createAuthority(t);
    // OpenSSL serves no ECDSA key by TLS 1.2 that may not sign.
    for (const usage of ['keyEncipherment', 'keyAgreement']) {
      const { key, cert } = authority.issue(['www.example.com'], { extensions: [`keyUsage=${usage}`] });
      const refused = await mine('certificate.add', requestOf(key, cert));
      assert.equal(refused.errorCode, 'pemInvalid');
      assert.match(
        String(refused.body['info']),
        /^field certificate .* it cannot be used in a handshake: no shared cipher$/,
      );
    }
    const folder = temporaryFolder(t);
    const own =
      '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout key.pem -out cert.pem -subj /CN=own';
    const args = ['req', '-x509', ...own.split(' '), '-addext', 'subjectAltName=DNS:own.example.com'];
    execFileSync(obtain('openssl'), args, { cwd: folder, stdio: 'ignore' });
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name), 'utf8'));
    const warnings = dataOf(await mine('certificate.add', requestOf(key ?? '', cert ?? '')))['warnings'] as Warnings;
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['selfSigned'],
    );
  });
});

function requestOf(key: string, certificate: string) {
  return { ssl_title: 'a title', private_key: key, certificate };
}
