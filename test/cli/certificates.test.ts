/** `causeway certificate` and `causeway domain ssl`, in words and as JSON. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '../support/certificates/certificate.ts';
import { startControl } from '../support/cli/control.ts';
import { runCommand } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('certificates are added from files, listed, given to a domain and deleted', needs('openssl'), async (t) => {
  const service = await startControl(t);
  const run = async (...args: string[]) => runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: service.dataDir } });
  const says = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const folder = temporaryFolder(t);
  const pair = createAuthority(t).issue(['www.example.com', 'example.com']);
  const [certificate, key] = [join(folder, 'shop.pem'), join(folder, 'shop.key')];
  writeFileSync(certificate, pair.cert);
  writeFileSync(key, pair.key);
  await says('domain', 'add', 'www.example.com', '192.0.2.1');
  const added = await says('certificate', 'add', certificate, key);
  const [, sslKey = ''] =
    /^certificate (\w+)\nwarning: the issuer "CN=test authority" is neither .*\n$/.exec(added) ?? [];
  assert.match(
    await says('certificate', 'list'),
    new RegExp(
      `^${sslKey} +not in use +ecdsa +\\d{4}-\\d\\d-\\d\\dT\\S+\\+08:00 +shop\\.pem +test authority +www\\.example\\.com,example\\.com$`,
      'm',
    ),
  );
  assert.match(
    await says('domain', 'ssl', 'www.example.com'),
    /^HTTPS +off\nforce HTTPS +off\nHSTS +off\nminimum version +TLS 1\.2\n$/,
  );
  const alone = await run('domain', 'ssl', '1', '--second-certificate', sslKey);
  assert.match(alone.stderr, /^causeway: --certificate is missing/, 'HTTPS is off');
  const on = await says('domain', 'ssl', '1', '--certificate', sslKey, '--force-https', 'on', '--hsts', '300');
  assert.match(
    on,
    new RegExp(`^HTTPS +on\ncertificate +${sslKey}\nforce HTTPS +on\nHSTS +300 s\nminimum version +TLS 1\\.2\n$`),
  );
  assert.match(
    await says('domain', 'ssl', '1', '--min-version', '1.3'),
    /^HTTPS +on\n[\s\S]*^minimum version +TLS 1\.3\n$/m,
  );
  assert.match(await says('domain', 'show', '1'), new RegExp(`^certificate +${sslKey}$`, 'm'));
  const rsa = createAuthority(t).issue(['www.example.com'], { isRsa: true });
  writeFileSync(join(folder, 'rsa.pem'), rsa.cert + rsa.key);
  const addedRsa = await says('certificate', 'add', join(folder, 'rsa.pem'), join(folder, 'rsa.pem'), '--json');
  const { ssl_key: second, warnings } = JSON.parse(addedRsa) as { ssl_key: string; warnings: { code: string }[] };
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['issuerMissing'],
  );
  const both = new RegExp(`^certificate +${sslKey}\nsecond certificate +${second}$`, 'm');
  assert.match(await says('domain', 'ssl', '1', '--second-certificate', second), both);
  assert.match(await says('domain', 'show', '1'), both);
  const same = await run('domain', 'ssl', '1', '--second-certificate', sslKey);
  assert.match(same.stderr, /^causeway: --second-certificate is invalid: .* but both are ECDSA\n$/);
  assert.doesNotMatch(await says('domain', 'ssl', '1', '--second-certificate', 'none'), /second/);
  await says('certificate', 'rm', second);
  const [, keyId] = /^key ([0-9a-f]{16})\n1 secrets re-encrypted\n$/.exec(await says('keyring', 'rotate')) ?? [];
  assert.match(readFileSync(join(service.dataDir, 'keyring'), 'utf8'), new RegExp(`\n${keyId} [^\n]*\n$`));
  const kept = await run('certificate', 'rm', sslKey);
  assert.equal(kept.code, 1);
  assert.match(kept.stderr, /used by www\.example\.com and cannot .* turn HTTPS off with "causeway domain ssl"\n$/);
  assert.match(await says('domain', 'ssl', '1', '--off'), /^HTTPS +off\nforce HTTPS +on\n/);
  assert.equal(await says('certificate', 'rm', sslKey), `certificate ${sslKey} deleted\n`);
  assert.equal(await says('certificate', 'list', '--json'), '[]\n');
  const swapped = await run('certificate', 'add', key, certificate);
  assert.match(swapped.stderr, /^causeway: <key> is invalid: .*, but it holds no private key, but CERTIFICATE\n$/);
  writeFileSync(join(folder, 'shop.der'), new X509Certificate(pair.cert).raw);
  const der = await run('certificate', 'add', join(folder, 'shop.der'), key);
  assert.match(der.stderr, /^causeway: \S+shop\.der is not a PEM file; convert DER with openssl/);
  const missing = await run('certificate', 'add', join(folder, 'none'), key);
  assert.match(missing.stderr, /cannot read .*none: no such file or folder/);
});

test('warnings about a certificate are shown wherever it is shown; lists are complete', needs('openssl'), async (t) => {
  const service = await startControl(t);
  const says = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: service.dataDir } });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const file = join(temporaryFolder(t), 'client.pem');
  const authority = createAuthority(t);
  const { cert, key } = authority.issue(['www.example.com'], { extensions: ['extendedKeyUsage=clientAuth'] });
  writeFileSync(file, cert + authority.ca + key);
  await says('domain', 'add', 'www.example.com', '192.0.2.1');
  const { ssl_key } = JSON.parse(await says('certificate', 'add', file, file, '--json'));
  const warning = /^warning +the extended key usage of the certificate does not include servers/m;
  assert.match(await says('domain', 'ssl', '1', '--certificate', ssl_key), warning);
  assert.match(await says('domain', 'show', '1'), warning);
  assert.match(await says('certificate', 'show', ssl_key), warning);
  assert.match(await says('certificate', 'list'), new RegExp(`^warning: ${ssl_key}: the extended key usage`, 'm'));
  assert.doesNotMatch(await says('domain', 'ssl', '1', '--off'), /^warning/m);

  const other = authority.issue(['a.example.com']);
  writeFileSync(file, other.cert + authority.ca + other.key);
  const second = JSON.parse(await says('certificate', 'add', file, file, '--json')) as { ssl_key: string };
  const listed = async (...args: string[]) =>
    (JSON.parse(await says('certificate', 'list', '--json', ...args)) as { ssl_key: string }[]).map(
      (one) => one.ssl_key,
    );
  assert.deepEqual(
    [await listed(), await listed('--page-size', '1'), await listed('--page', '2', '--page-size', '1')],
    [[ssl_key, second.ssl_key], [ssl_key, second.ssl_key], [second.ssl_key]],
  );
});
