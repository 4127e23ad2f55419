import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { KeyringError, loadKeyring, loadOrMakeKeyring } from './keyring.ts';
import { seal, sealAnew, sealedWith, unseal } from './sealing.ts';

const PLACE = { table: 'certificate', row: 'abc', column: 'private_key' };
const SECRET = Buffer.from('a secret of some length');

describe('the key ring', () => {
  test('the key ring is created once, private, and stays the same', (t) => {
    const file = join(temporaryFolder(t), 'new', 'keyring');
    const first = loadOrMakeKeyring(file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(file, '..')), ['keyring']);
    assert.deepEqual(loadOrMakeKeyring(file).newest, first.newest);
  });

  test('the key ring is refused if it is missing, not private, or invalid', (t) => {
    const file = join(temporaryFolder(t), 'keyring');
    const refusal = (pattern: RegExp) =>
      assert.throws(
        () => loadKeyring(file),
        (error) => error instanceof KeyringError && pattern.test(error.message) && error.message.includes(file),
      );
    refusal(/is missing: restore it/);
    loadOrMakeKeyring(file);
    const text = readFileSync(file, 'utf8');
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(file, mode);
      refusal(/may be read by others \(mode 6..\): make it private with chmod 600/);
    }
    chmodSync(file, 0o600);
    for (const [content, pattern] of [
      ['', /does not begin with/],
      ['causeway-keyring-2\n', /newer release/],
      ['causeway-keyring-1\n', /holds no key/],
      [text.replace(/ .*/, ' c2hvcnQ='), /damaged in line 2/],
      [`${text}xyz\n`, /damaged in line 3/],
      [text.replace(/ (.)/, (_, first) => (first === 'A' ? ' B' : ' A')), /damaged in line 2/],
      [text.replace(/\n[0-9a-f]/, (first) => (first === '\na' ? '\nb' : '\na')), /damaged in line 2/],
      [text.replace(/ \S+\n$/, ' 00000000'), /damaged in line 2/],
    ] as const) {
      writeFileSync(file, content);
      refusal(pattern);
    }
    writeFileSync(file, text.replace(/ \S+\n$/, '')); // as it was before lines had a check
    assert.equal(loadKeyring(file).newest.key.length, 32);
  });

  test('the key ring no longer seals with keys that have left the file', (t) => {
    const file = join(temporaryFolder(t), 'keyring');
    const [ring, other] = [loadOrMakeKeyring(file), loadKeyring(file)];
    const { id } = other.add();
    assert.equal(sealedWith(seal(ring, PLACE, SECRET)), id);
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    assert.throws(() => seal(ring, PLACE, SECRET), /is missing: restore it/);
    writeFileSync(file, text, { mode: 0o600 });
    assert.equal(sealedWith(seal(ring, PLACE, SECRET)), id);
  });
});

describe('a sealed secret', () => {
  test('a sealed secret opens in its place, and is another text each time', (t) => {
    const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
    const sealed = seal(ring, PLACE, SECRET);
    assert.deepEqual(unseal(ring, PLACE, sealed), SECRET);
    assert.notEqual(sealed, seal(ring, PLACE, SECRET));
    assert.equal(sealedWith(sealed), ring.newest.id);
    for (const form of ['utf8', 'base64', 'base64url', 'hex'] as const)
      assert.ok(!sealed.includes(SECRET.toString(form)));
  });

  test('a sealed secret opens nowhere else, nor changed, nor without its key', (t) => {
    const folder = temporaryFolder(t);
    const ring = loadOrMakeKeyring(join(folder, 'keyring'));
    const sealed = seal(ring, PLACE, SECRET);
    for (const place of [
      { ...PLACE, row: 'abd' },
      { ...PLACE, table: 'connector' },
      { ...PLACE, column: 'key' },
    ]) {
      assert.throws(() => unseal(ring, place, sealed), /moved there from another row, or is damaged/);
    }
    for (let at = sealed.lastIndexOf('.') + 1; at < sealed.length - 1; at += 7) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      assert.throws(() => unseal(ring, PLACE, sealed.slice(0, at) + other + sealed.slice(at + 1)), KeyringError);
    }
    assert.throws(() => unseal(ring, PLACE, `v2${sealed.slice(2)}`), /does not know/);
    assert.throws(() => unseal(ring, PLACE, ''), KeyringError);
    mkdirSync(join(folder, 'other'));
    const other = loadOrMakeKeyring(join(folder, 'other', 'keyring'));
    assert.throws(() => unseal(other, PLACE, sealed), /sealed with the key [0-9a-f]{16}, which is not in the key ring/);
  });

  test('a sealed secret is sealed anew with a new key, which others with the ring find', (t) => {
    const file = join(temporaryFolder(t), 'keyring');
    const [ring, other] = [loadOrMakeKeyring(file), loadKeyring(file)];
    const sealed = seal(ring, PLACE, SECRET);
    const before = ring.newest.id;
    const { id } = ring.add();
    assert.deepEqual([ring.newest.id, statSync(file).mode & 0o777], [id, 0o600]);
    const anew = sealAnew(ring, PLACE, sealed);
    assert.deepEqual([sealedWith(sealed), sealedWith(anew)], [before, id]);
    for (const text of [sealed, anew]) assert.deepEqual(unseal(other, PLACE, text), SECRET);
    assert.equal(sealedWith(seal(other, PLACE, SECRET)), id);
    assert.throws(() => sealAnew(ring, { ...PLACE, row: 'abd' }, sealed), /moved there from another row/);
  });
});
