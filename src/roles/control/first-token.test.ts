import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '#db/open.ts';
import { findTokensByHash, revokeToken } from '#db/tables/tokens.ts';
import { createLogger } from '#lib/logger.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { ensureFirstToken } from './first-token.ts';

test('a new token is stored whole, for its owner only', async (t) => {
  const { file, ensure, isValid } = await prepare(t);
  assert.equal(await ensure(), 'kept');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(await isValid(readFileSync(file, 'utf8').trim()));
});

test('the token of a start that was killed is used, and closed to others', async (t) => {
  const { file, ensure, isValid } = await prepare(t);
  const token = mintToken();
  writeFileSync(file, `${token}\n`);
  chmodSync(file, 0o644);
  assert.equal(await ensure(), 'kept');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(await isValid(token));
});

test('two starts at once, as after a kill that a part survives for a moment, keep the token', async (t) => {
  for (const hasFile of [false, true]) {
    const { file, ensure, isValid } = await prepare(t);
    if (hasFile) writeFileSync(file, `${mintToken()}\n`);
    assert.deepEqual((await Promise.all([ensure(), ensure()])).toSorted(), ['kept', 'stillKept']);
    assert.ok(await isValid(readFileSync(file, 'utf8').trim()));
  }
});

test('the place of a token is mentioned by later starts too, for the first may have failed, until it is used up', async (t) => {
  const { db, file, ensure } = await prepare(t);
  await ensure();
  assert.deepEqual([await ensure(), await ensure()], ['stillKept', 'stillKept']);
  const token = readFileSync(file, 'utf8');
  writeFileSync(file, mintToken());
  assert.equal(await ensure(), 'none', 'of another database');
  rmSync(file);
  assert.equal(await ensure(), 'none');
  assert.equal(existsSync(file), false);
  mkdirSync(file);
  assert.equal(await ensure(), 'none', 'and nothing stands in the way of a start');
  rmdirSync(file);
  writeFileSync(file, token);
  await revokeToken(db.query, 1, 0);
  assert.equal(await ensure(), 'none');
});

test('a file that holds anything else is refused, and says what to do', async (t) => {
  const { file, ensure, isValid } = await prepare(t);
  for (const content of ['', '\n', 'cwy_short', 'secret', `${mintToken()}x`, `${mintToken()}\n${mintToken()}\n`]) {
    writeFileSync(file, content);
    await assert.rejects(ensure(), /first-token does not contain an access token .* remove the file/);
    assert.equal(await isValid(content.trim()), false);
  }
});

async function prepare(t: TestContext) {
  const folder = temporaryFolder(t);
  const log = createLogger({ level: 'silent', name: 'test' });
  const db = await openDatabase({ file: join(folder, 'causeway.db'), log });
  t.after(() => db[Symbol.asyncDispose]());
  const file = join(folder, 'first-token');
  return {
    db,
    file,
    ensure: () => ensureFirstToken({ db, given: undefined, file, now: 0 }),
    isValid: async (token: string) => (await findTokensByHash(db.query, [hashToken(token)])).size === 1,
  };
}
