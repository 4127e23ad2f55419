/** Accounts, tokens and domains on both engines: what is found, what conflicts, and what two transactions cannot both do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import {
  countAccounts,
  createAccount,
  findAccount,
  giveDomainPlace,
  listAccounts,
  takeDomainPlace,
} from '#db/tables/accounts.ts';
import type { DomainStatus } from '#db/tables/domain-filter.ts';
import {
  findDomain,
  findDomainById,
  findNameConflict,
  insertDomain,
  listDomains,
  lockName,
  markDomainDeleted,
  type NewDomain,
  saveDomain,
} from '#db/tables/domains.ts';
import {
  createToken,
  findToken,
  findTokensByHash,
  listTokens,
  revokeToken,
  saveTokenLimits,
} from '#db/tables/tokens.ts';
import { ACCESS } from '#model/account.ts';
import type { InForce } from '#model/acknowledgement.ts';
import { DEFAULT_SETTINGS, type DomainSettings } from '#model/domain.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';

const NOBODY = { floor: undefined, rejectedNames: [] };
const ALL = { domainIds: undefined };
const EVERYTHING = { ...ALL, limit: 1000, offset: 0, inForce: { ready: NOBODY, reserve: NOBODY } };

describeOnBothEngines('db', (newDatabase) => {
  test('accounts are found, listed in their order and counted', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    assert.equal(await countAccounts(db.query), 0);
    const one = await createAccount(db.query, { name: '甲公司 🏢', kind: 'customer', now: 1_700_000_000_123 });
    const two = await createAccount(db.query, { name: 'ops', kind: 'operator', now: 2 });
    assert.deepEqual(await findAccount(db.query, one.id), one);
    assert.equal(one.createdAt, 1_700_000_000_123);
    assert.equal(await findAccount(db.query, 99), undefined);
    assert.deepEqual(await listAccounts(db.query, { limit: 1, offset: 1 }), [two]);
    assert.equal(await countAccounts(db.query), 2);
  });

  test('concurrent requests for a place for a domain get as many places as there are', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const { id } = await createAccount(db.query, { name: 'a', kind: 'customer', now: 1 });
    const take = () => db.transaction((trx) => takeDomainPlace(trx, id, 10));
    const taken = await Promise.all(Array.from({ length: 50 }, take));
    assert.equal(taken.filter((isTaken) => isTaken).length, 10);
    await giveDomainPlace(db.query, id);
    assert.deepEqual([await take(), await take()], [true, false]);
  });

  test('a token is found by its hash, narrowed and revoked; its first revocation counts', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const account = await createAccount(db.query, { name: 'a', kind: 'customer', now: 1 });
    const created = await createToken(db.query, {
      accountId: account.id,
      scopes: ['cdn', 'sms', 'operator'],
      label: 'first',
      expiresAt: 5000,
      hash: 'h1',
      now: 10,
    });
    const found = await findTokensByHash(db.query, ['h2', 'h1', 'h1']);
    assert.deepEqual([...found], [['h1', { token: created, account }]]);
    assert.equal(created.expiresAt, 5000);
    assert.deepEqual(created.access, ACCESS, 'all, unless it is limited');
    const limits = { scopes: ['cdn'], access: ['read'], domainIds: [7, 9] } as const;
    await saveTokenLimits(db.query, created.id, { scopes: limits.scopes });
    await saveTokenLimits(db.query, created.id, { access: limits.access, domainIds: limits.domainIds });
    assert.deepEqual(await findToken(db.query, created.id), { ...created, ...limits });
    assert.equal(await revokeToken(db.query, created.id, 20), true);
    assert.equal(await revokeToken(db.query, created.id, 30), true);
    assert.equal(await revokeToken(db.query, 99, 30), false);
    assert.deepEqual(await listTokens(db.query, account.id), [{ ...created, ...limits, revokedAt: 20 }]);
    const again = { accountId: account.id, scopes: [], label: '', now: 1 };
    await assert.rejects(createToken(db.query, { ...again, hash: 'h1' }));
    await assert.rejects(createToken(db.query, { ...again, accountId: 99, hash: 'h3' }));
  });

  test('a domain is stored whole, changed, and absent for everyone once deleted; its id is never used again', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const [mine, other] = await twoAccounts(db);
    const domain = await insertDomain(db.query, newDomain(mine, 'a.example.com'));
    assert.deepEqual(domain, { ...newDomain(mine, 'a.example.com'), id: domain.id, settingRevision: 0 });
    assert.deepEqual(await findDomain(db.query, { ...ALL, accountId: mine, id: domain.id }), domain);
    const limited = (domainIds: readonly number[]) =>
      findDomain(db.query, { accountId: mine, domainIds, id: domain.id });
    assert.deepEqual([await limited([domain.id]), await limited([domain.id + 1])], [domain, undefined]);
    assert.equal(await findDomain(db.query, { ...ALL, accountId: other, id: domain.id }), undefined);
    const changed = {
      ...domain,
      accountId: other,
      state: 'closed',
      remark: "'); --",
      settingRevision: 2 ** 40,
    } as const;
    await saveDomain(db.query, changed);
    assert.deepEqual(await findDomainById(db.query, domain.id), changed);
    await assert.rejects(insertDomain(db.query, newDomain(mine, 'a.example.com')), 'a name in use');
    assert.equal(await markDomainDeleted(db.query, domain.id, 7), true);
    assert.equal(await markDomainDeleted(db.query, domain.id, 8), false);
    await saveDomain(db.query, domain);
    assert.equal(await findDomainById(db.query, domain.id), undefined);
    await db.query.deleteFrom('domain').execute();
    const next = await insertDomain(db.query, newDomain(mine, 'a.example.com'));
    assert.ok(next.id > domain.id);
  });

  test('a setting that a row does not have yet reads as its default', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const [mine] = await twoAccounts(db);
    const { id } = await insertDomain(db.query, newDomain(mine, 'a.example.com'));
    const rows: readonly (readonly [string, Partial<DomainSettings>])[] = [
      ['{"pageCompress":true}', { pageCompress: true }],
      ['{"keepUrlParams":true}', { ignoresQuery: true }],
      ['{"keepUrlParams":true,"ignoresQuery":false}', { ignoresQuery: false }],
      ['{"cache":{"staleCapSeconds":1}}', { cache: { ...DEFAULT_SETTINGS.cache, staleCapSeconds: 1 } }],
      ['{"caching":{"followsOrigin":false}}', { caching: { ...DEFAULT_SETTINGS.caching, followsOrigin: false } }],
      ['{"referer":{"mode":"deny"}}', { referer: { ...DEFAULT_SETTINGS.referer, mode: 'deny' } }],
      ['{"userAgent":{"isOn":true}}', { userAgent: { isOn: true, entries: [] } }],
      ['{"ip":{"entries":["::1"]}}', { ip: { isOn: false, entries: ['::1'] } }],
    ];
    for (const [settings, expected] of rows) {
      await db.query.updateTable('domain').set({ settings }).execute();
      const found = await findDomainById(db.query, id);
      assert.deepEqual(found?.settings, { ...DEFAULT_SETTINGS, ...expected }, settings);
    }
  });

  test('names conflict as the table says', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const [mine, other] = await twoAccounts(db);
    await insertDomain(db.query, newDomain(other, '*.wild.example.com'));
    await insertDomain(db.query, newDomain(other, 'deep.name.example.org'));
    await insertDomain(db.query, newDomain(mine, '*.own.example.com'));
    await insertDomain(db.query, newDomain(mine, 'x.own.example.net'));
    const own = await insertDomain(db.query, newDomain(mine, 'moves.example.com'));
    assert.equal(await findNameConflict(db.query, { name: own.name, accountId: other, exceptId: own.id }), undefined);
    const gone = await insertDomain(db.query, newDomain(other, '*.gone.example.com'));
    await markDomainDeleted(db.query, gone.id, 1);
    /** `mine` asks for the first; the second is what stands in the way. */
    const table: readonly (readonly [string, string?])[] = [
      ['*.wild.example.com', '*.wild.example.com'],
      ['a.wild.example.com', '*.wild.example.com'],
      ['a.b.wild.example.com', '*.wild.example.com'],
      ['*.b.wild.example.com', '*.wild.example.com'],
      ['wild.example.com'],
      ['awild.example.com'],
      ['*.example.com', '*.wild.example.com'],
      ['deep.name.example.org', 'deep.name.example.org'],
      ['*.name.example.org', 'deep.name.example.org'],
      ['*.example.org', 'deep.name.example.org'],
      ['*.ame.example.org'],
      ['*.deep.name.example.org'],
      ['a.own.example.com'],
      ['*.a.own.example.com'],
      ['*.own.example.com', '*.own.example.com'],
      ['*.own.example.net'],
      ['x.own.example.net', 'x.own.example.net'],
      ['a.gone.example.com'],
      ['*.gone.example.com'],
    ];
    for (const [name, expected] of table) {
      assert.equal((await findNameConflict(db.query, { name, accountId: mine }))?.name, expected, name);
    }
  });

  test('a percent sign or an underscore in a name is no wildcard of SQL', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const [mine] = await twoAccounts(db);
    await insertDomain(db.query, newDomain(mine, 'a-b.example.com'));
    for (const [nameContains, total] of [
      ['a-b', 1],
      ['A-B.Ex', 1],
      ['a_b', 0],
      ['%', 0],
      ['!', 0],
      ['', 1],
    ] as const) {
      const found = await listDomains(db.query, { accountId: mine, nameContains, ...EVERYTHING });
      assert.equal(found.total, total, nameContains);
    }
  });

  test('one of fifty concurrent transactions that add the same name wins', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const [mine, other] = await twoAccounts(db);
    const tries = Array.from({ length: 50 }, (_, n) => addIfFree(db, n % 2 === 0 ? mine : other, 'a.example.com'));
    assert.equal((await Promise.all(tries)).filter(Boolean).length, 1);
  });

  test('concurrent transactions that add a name, or the wildcard over it, for two accounts succeed for one account only', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const [mine, other] = await twoAccounts(db);
    for (let round = 0; round < 5; round += 1) {
      const tries = Array.from({ length: 10 }, (_, n) =>
        n % 2 === round % 2
          ? addIfFree(db, mine, `n${n}.r${round}.example.com`)
          : addIfFree(db, other, `*.r${round}.example.com`),
      );
      await Promise.all(tries);
      const nameContains = `.r${round}.`;
      const [names, wildcards] = await Promise.all(
        [mine, other].map((accountId) => listDomains(db.query, { accountId, nameContains, ...EVERYTHING })),
      );
      assert.deepEqual([names?.total, wildcards?.total].sort(), names?.total === 0 ? [0, 1] : [0, 5]);
    }
  });

  test('domains are listed by page, name and status', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const [mine, other] = await twoAccounts(db);
    const states = ['open', 'open', 'open', 'open', 'pending', 'closed', 'rejected', 'disabled'] as const;
    for (const [n, state] of states.entries()) {
      const domain = await insertDomain(db.query, { ...newDomain(mine, `d${n}.example.com`), state });
      await saveDomain(db.query, { ...domain, settingRevision: n + 1 });
    }
    await insertDomain(db.query, newDomain(other, 'd9.example.com'));
    const inForce = { ready: { floor: 3, rejectedNames: ['d1.example.com'] }, reserve: NOBODY };
    const list = async (
      statuses: readonly DomainStatus[] | undefined,
      force: InForce = inForce,
      limit = 100,
      offset = 0,
    ) => {
      const found = await listDomains(db.query, { ...ALL, accountId: mine, statuses, limit, offset, inForce: force });
      return `${found.total}: ${found.domains.map(({ name }) => name.slice(0, 2)).join(' ')}`.trim();
    };
    assert.equal(await list(undefined), '8: d0 d1 d2 d3 d4 d5 d6 d7');
    assert.equal(await list(['accelerating']), '2: d0 d2');
    assert.equal(await list(['configuring']), '2: d1 d3');
    assert.equal(await list(['configuring', 'pending']), '3: d1 d3 d4');
    assert.equal(await list(['open']), '4: d0 d1 d2 d3');
    assert.equal(await list(['rejected', 'disabled']), '2: d6 d7');
    assert.equal(await list([]), '0:');
    assert.equal(await list(['accelerating'], { ready: NOBODY, reserve: NOBODY }), '0:');
    assert.equal(await list(['accelerating'], { ready: NOBODY, reserve: inForce.ready }), '2: d0 d2');
    assert.equal(await list(['accelerating'], { ...inForce, reserve: { floor: 9, rejectedNames: [] } }), '2: d0 d2');
    assert.equal(await list(undefined, inForce, 3, 6), '8: d6 d7');
    assert.equal(await list(undefined, inForce, 3, 100), '8:');
  });
});

async function twoAccounts(db: Db): Promise<readonly [number, number]> {
  const one = await createAccount(db.query, { name: 'one', kind: 'customer', now: 1 });
  const two = await createAccount(db.query, { name: 'two', kind: 'customer', now: 1 });
  return [one.id, two.id];
}

function newDomain(accountId: number, name: string): NewDomain {
  const settings = { ...DEFAULT_SETTINGS, origins: ['192.0.2.1:80', '源.example.com'] };
  return {
    accountId,
    name,
    type: 'static',
    icpNumber: '京ICP备1号',
    remark: '',
    state: 'open',
    createdAt: 5,
    settings,
  };
}

function addIfFree(db: Db, accountId: number, name: string): Promise<boolean> {
  return db.transaction(async (trx) => {
    await lockName(trx, name);
    if ((await findNameConflict(trx, { name, accountId })) !== undefined) return false;
    await insertDomain(trx, newDomain(accountId, name));
    return true;
  });
}
