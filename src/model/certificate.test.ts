import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createAuthority } from '../../test/support/certificates/certificate.ts';
import { needs, obtain } from '../../test/support/runner/needs.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { parseChain, whyNoPair } from './certificate.ts';
import { parsePrivateKey } from './private-key.ts';

const DAY = 24 * 3600 * 1000;

/** Runs openssl in a folder of its own; `read` gives what it wrote. */
function startOpenssl(t: Parameters<typeof temporaryFolder>[0]) {
  const folder = temporaryFolder(t);
  const openssl = (command: string) =>
    execFileSync(obtain('openssl'), command.split(' '), { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  return { openssl, read: (name: string) => readFileSync(join(folder, name), 'utf8') };
}

function keyOf(text: string) {
  const parsed = parsePrivateKey(text);
  assert.ok(parsed.kind === 'key', JSON.stringify(parsed));
  return parsed.key;
}

function refusalOf(text: string): string {
  const parsed = parsePrivateKey(text);
  return parsed.kind === 'invalid' ? parsed.reason : 'taken';
}

/** PKCS #1. It has the length, and nothing else of a key: making one takes seconds. */
function rsaOf(bits: number): string {
  const der = (tag: number, content: Buffer) =>
    Buffer.concat([Buffer.of(tag, 0x82, content.length >> 8, content.length), content]);
  const number = (bytes: number) => der(0x02, Buffer.concat([Buffer.of(0), Buffer.alloc(bytes, 0xff)]));
  const [whole, half] = [number(bits / 8), number(bits / 16)];
  const key = der(
    0x30,
    Buffer.concat([Buffer.of(2, 1, 0), whole, Buffer.of(2, 1, 3), whole, half, half, half, half, half]),
  );
  return `-----BEGIN RSA PRIVATE KEY-----\n${key.toString('base64')}\n-----END RSA PRIVATE KEY-----\n`;
}

describe('a private key', needs('openssl'), () => {
  test('a private key is read in every format and of every supported kind', (t) => {
    const { openssl, read } = startOpenssl(t);
    openssl('genrsa -traditional -out pkcs1.pem 2048');
    openssl('pkey -in pkcs1.pem -out pkcs8.pem');
    openssl('ecparam -genkey -name prime256v1 -out sec1.pem'); // with a block of parameters before the key
    openssl('genpkey -algorithm ed25519 -out ed25519.pem');
    openssl('genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-384 -out p384.pem');
    assert.match(read('sec1.pem'), /BEGIN EC PARAMETERS/);
    for (const name of ['pkcs1', 'pkcs8', 'sec1', 'ed25519', 'p384']) {
      const text = read(`${name}.pem`);
      const key = keyOf(text);
      assert.ok(key.equals(createPrivateKey(text)), name);
      const oneLine = text.replaceAll('\n', ' ');
      for (const written of [`\uFEFF${text.replaceAll('\n', '\r\n')}`, `  ${text}\n\n`, oneLine, text.trimEnd()])
        assert.ok(keyOf(written).equals(key), name);
    }
  });

  test('a private key is refused with the reason', (t) => {
    const { openssl, read } = startOpenssl(t);
    openssl('genrsa -traditional -out plain.pem 2048');
    openssl('rsa -in plain.pem -traditional -aes128 -passout pass:abcd -out pkcs1.pem');
    openssl('pkcs8 -topk8 -in plain.pem -passout pass:abcd -out pkcs8.pem');
    openssl('pkey -in plain.pem -pubout -out public.pem');
    openssl('genrsa -out short.pem 1024');
    openssl('genpkey -algorithm ec -pkeyopt ec_paramgen_curve:secp256k1 -out curve.pem');
    openssl('genpkey -algorithm x25519 -out x25519.pem');
    const plain = read('plain.pem');
    for (const [text, reason] of [
      [read('pkcs1.pem'), /^is encrypted: remove its passphrase/],
      [read('pkcs8.pem'), /^is encrypted: remove its passphrase/],
      [read('public.pem'), /^holds no private key, but PUBLIC KEY$/],
      ['garbage', /^is not PEM: there is no -----BEGIN line in it$/],
      ['', /^is not PEM: there is no -----BEGIN line in it$/],
      [plain + plain, /^holds 2 private keys/],
      [plain.slice(0, 300), /^has a block without its END line: RSA PRIVATE KEY$/],
      [plain.replace(/\n./, '\n!'), /^has a block that is not Base64/],
      [plain.replace(/\n[^-]{300}/, '\n'), /^cannot be read as a private key$/],
      [plain.replaceAll('RSA', 'OPENSSH'), /^is in an unknown format: OPENSSH PRIVATE KEY$/],
      [read('short.pem'), /^is RSA of 1024 bits: at least 2048 are needed$/],
      [rsaOf(4096), /^taken$/],
      [rsaOf(4104), /^is RSA of 4104 bits: at most 4096 can be served$/],
      [read('curve.pem'), /^is of an unsupported kind: of the curve secp256k1/],
      [read('x25519.pem'), /^is of an unsupported kind: x25519/],
    ] as const) {
      assert.match(refusalOf(text), reason);
    }
  });
});

describe('a chain', needs('openssl'), () => {
  test('a chain is put in order, without self-issued certificates above the leaf', (t) => {
    const authority = createAuthority(t);
    const { key, cert } = authority.issue(['*.Example.com', 'example.com', '127.0.0.1'], { hasIntermediate: true });
    const [leaf = '', intermediate = ''] = cert.match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----\n/g) ?? [];
    const ordered = [leaf, intermediate].map((pem) => new X509Certificate(pem).fingerprint256);
    const now = Date.now();
    for (const written of [
      cert,
      intermediate + leaf,
      authority.ca + intermediate + leaf + intermediate,
      `\uFEFFBag Attributes\n${leaf}${key}${authority.ca}\n${intermediate}`.replaceAll('\n', '\r\n'),
      `${leaf}${intermediate}`.replaceAll('\n', ' '),
    ]) {
      const parsed = parseChain(written, keyOf(key), now);
      assert.ok(parsed.kind === 'chain', JSON.stringify(parsed));
      const { chain, names, issuer, validFrom, validTo } = parsed.chain;
      const blocks = chain.match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----\n/g) ?? [];
      assert.deepEqual(
        blocks.map((pem) => new X509Certificate(pem).fingerprint256),
        ordered,
      );
      assert.deepEqual(names, ['*.example.com', 'example.com']);
      assert.equal(issuer, 'test intermediate');
      assert.ok(Math.abs(validFrom - now) < DAY / 24 && Math.abs(validTo - now - 2 * DAY) < DAY / 24);
      assert.equal(whyNoPair(chain, key), undefined);
    }
  });

  test('a chain may be one self-signed certificate', (t) => {
    const { openssl, read } = startOpenssl(t);
    openssl(
      'req -x509 -newkey ed25519 -nodes -keyout key.pem -out cert.pem -subj /O=Some,Part/OU=X -addext subjectAltName=DNS:a.example.com',
    );
    const parsed = parseChain(read('cert.pem'), keyOf(read('key.pem')), Date.now());
    assert.ok(parsed.kind === 'chain');
    assert.equal(parsed.chain.issuer, 'Some,Part');
  });

  test('a chain is refused with the reason', (t) => {
    const authority = createAuthority(t);
    const { key, cert } = authority.issue(['a.example.com'], { hasIntermediate: true });
    const other = authority.issue(['b.example.com'], { hasIntermediate: true });
    const expired = authority.issue(['a.example.com'], { isExpired: true });
    const { openssl, read } = startOpenssl(t);
    openssl('req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2');
    openssl('req -new -newkey rsa:2048 -nodes -keyout key.pem -out csr.pem -subj /CN=a');
    openssl('x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out one.pem -days 2');
    openssl('x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out again.pem -days 2');
    openssl('req -new -newkey rsa:1024 -nodes -keyout short.key -out short.csr -subj /CN=short');
    openssl('x509 -req -in short.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out short.pem -days 2');
    openssl('x509 -req -in csr.pem -CA short.pem -CAkey short.key -CAcreateserial -out below.pem -days 2');
    const now = Date.now();
    const refusal = (text: string, by = key) => {
      const parsed = parseChain(text, keyOf(by), now);
      return parsed.kind === 'invalid' ? `${parsed.field} ${parsed.reason}` : 'taken';
    };
    for (const [found, expected] of [
      [refusal(cert, other.key), /^private_key does not belong to the certificate$/],
      [refusal(authority.ca), /^private_key does not belong to the certificate$/],
      [refusal(''), /^certificate is not PEM: /],
      [refusal(key), /^certificate holds no certificate, but PRIVATE KEY$/],
      [refusal(cert.slice(0, 200)), /^certificate has a block without its END line: CERTIFICATE$/],
      [refusal(cert.replace(/\n./, '\n*')), /^certificate has a block that is not Base64: CERTIFICATE$/],
      [
        refusal(`${cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`),
        /^certificate has a block that is not a certificate: number 3$/,
      ],
      [refusal(cert.repeat(6)), /^certificate holds 12 certificates: at most 10 make a chain$/],
      [refusal(cert + other.cert), /^certificate holds a certificate that is not part of its chain: "CN=test"$/],
      [refusal(expired.cert, expired.key), /^certificate expired at \d{4}-/],
      [
        refusal(read('one.pem') + read('again.pem'), read('key.pem')),
        /^certificate holds 2 certificates of the private key/,
      ],
      [
        refusal(read('below.pem') + read('short.pem'), read('key.pem')),
        /^certificate makes a chain that TLS does not accept: ca key too small$/,
      ],
    ] as const) {
      assert.match(found, expected);
      assert.doesNotMatch(found, /MII|\n/);
    }
    assert.match(whyNoPair(cert, other.key) ?? '', /does not belong/);
    assert.match(whyNoPair(cert, 'nonsense') ?? '', /cannot be read/);
  });
});
