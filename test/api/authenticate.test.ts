/** Authentication of concurrent calls: shared look-ups, and revocations that must not be missed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Caller, createAuthenticate } from '#api/auth/authenticate.ts';
import type { Db } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { createToken, revokeToken } from '#db/tables/tokens.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';

const NOW = 1_700_000_000_000;
const HERE: Caller = { address: '192.0.2.1', isLocal: false };
const THERE: Caller = { address: '192.0.2.2', isLocal: false };
const ROUNDS = 20;
const SECRET = 'of this machine';

describeOnBothEngines('authenticate', (newDatabase) => {
  test('a call that arrives after a revocation is refused, even while a look-up is in flight', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const authenticate = begin(db, 2 * ROUNDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { text, id } = await issue(db);
      const early = [authenticate(text, HERE, NOW), authenticate(text, HERE, NOW)];
      const settled = Promise.allSettled(early);
      // At various moments of the look-up.
      for (let turns = 0; turns < round % 4; turns += 1) await null;
      await revokeToken(db.query, id, NOW);
      await assert.rejects(authenticate(text, HERE, NOW), { code: 'tokenRevoked' });
      await settled;
    }
  });

  test('concurrent calls get the answer for their own token and address', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const authenticate = begin(db, 1);
    const [bound, free] = [await issue(db, ['192.0.2.1/32']), await issue(db)];
    const calls: readonly [string, Caller, number | undefined, boolean | undefined][] = [
      [bound.text, HERE, bound.accountId, false],
      [free.text, HERE, free.accountId, false],
      [bound.text, THERE, bound.accountId, true],
      [free.text, THERE, free.accountId, false],
      [SECRET, { address: '127.0.0.1', isLocal: true }, undefined, undefined],
    ];
    const found = await Promise.all(
      [...calls, ...calls].map(async ([text, caller]) => (await authenticate(text, caller, NOW)).token),
    );
    assert.deepEqual(
      found.map((token) => [token?.accountId, token?.isElsewhere]),
      [...calls, ...calls].map(([, , accountId, isElsewhere]) => [accountId, isElsewhere]),
    );
    const wrong = [authenticate(SECRET, { address: '127.0.0.1', isLocal: false }, NOW), authenticate('no', HERE, NOW)];
    for (const call of wrong) await assert.rejects(call, { code: 'tokenUnknown' });
  });

  test('only unknown tokens are refused after too many of them', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    let passedMs = 0;
    const authenticate = begin(db, 1, () => passedMs);
    const [good, revoked] = [await issue(db), await issue(db)];
    await revokeToken(db.query, revoked.id, NOW);
    const refusals = async () => {
      const codes: string[] = [];
      for (const text of ['wrong', revoked.text, good.text])
        codes.push(
          await authenticate(text, HERE, NOW).then(
            () => 'served',
            ({ code }) => code,
          ),
        );
      return codes;
    };
    assert.deepEqual(await refusals(), ['tokenUnknown', 'tokenRevoked', 'served']);
    assert.deepEqual(await refusals(), ['tooManyFailedTokens', 'tokenRevoked', 'served']);
    assert.equal(await authenticate('wrong', THERE, NOW).catch(({ code }) => code), 'tokenUnknown');
    passedMs += 60_000;
    assert.deepEqual(await refusals(), ['tokenUnknown', 'tokenRevoked', 'served']);
  });
});

function begin(db: Db, failedTokensPerMinute: number, steadyClock = () => 0) {
  return createAuthenticate({ db, localSecret: SECRET, failedTokensPerMinute, controls: () => 1, steadyClock });
}

async function issue(db: Db, addresses?: readonly string[]) {
  const text = mintToken();
  const { id: accountId } = await createAccount(db.query, { name: text, kind: 'customer', now: NOW });
  const hash = hashToken(text);
  const { id } = await createToken(db.query, { accountId, scopes: ['sms'], label: '', hash, addresses, now: NOW });
  return { text, id, accountId };
}
