import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { checkSignature, logFileName, parseLogPath, signedLogPath } from './download.ts';

const FILE = { accountId: 1, domainId: 7, day: '2026-01-31', name: 'www.example.com_2026-01-31.log.gz' };
const EXPIRES = 1_770_000_000;

test('a download address is valid until it expires, for its own file', (t) => {
  const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
  const address = signedLogPath(ring, FILE, EXPIRES);
  const check = (text: string, now = EXPIRES * 1000 - 1, keys = ring) => {
    const { pathname, searchParams } = new URL(text, 'http://control');
    const log = parseLogPath(pathname, searchParams);
    return log && checkSignature(keys, log, now);
  };
  assert.equal(check(address), 'valid');
  assert.equal(check(address, EXPIRES * 1000), 'expired');
  for (const [from, to] of [
    ['/logs/1/', '/logs/2/'],
    ['/7/', '/8/'],
    ['/2026-01-31/', '/2026-01-30/'],
    ['www.', 'w.'],
    ['expires=177', 'expires=178'],
    ['signature=', 'signature=A'],
    [/signature=.*/, 'signature='],
    [/key=[^&]*/, 'key=0000000000000000'],
  ] as const) {
    assert.equal(check(address.replace(from, to)), 'invalid', String(from));
  }
  assert.equal(check(address, 0, loadOrMakeKeyring(join(temporaryFolder(t), 'other'))), 'invalid');
  for (const other of ['/logs', '/logs/1/7/2026-01-31/', '/logs/1/7/2026-01-31/..%2f..', '/logs/1/7/x/y?expires=1']) {
    assert.equal(check(other), undefined, other);
  }
});

test('a file is named by its domain and day', () => {
  assert.equal(logFileName('www.example.com', '2026-01-31'), FILE.name);
  assert.equal(logFileName('*.example.com', '2026-01-31'), '_.example.com_2026-01-31.log.gz');
  assert.equal(logFileName('www.example.com', '2026-01-31', 5), 'www.example.com_2026-01-31_5.log.gz');
});
