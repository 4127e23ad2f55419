/** The place of edges among the tiers follows groups, enrolments, revocations and what edges report. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setGroup } from '#api/settings/edge-groups.ts';
import { listGroups, saveGroup } from '#db/tables/edge-groups.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { readConfigHead, readResourceBody } from '#db/tables/resources.ts';
import { enrolMachine } from '#fleet/obtain-identity.ts';
import { revokeEdge } from '#fleet/operate.ts';
import { announceTiers } from '#fleet/tier-announcements.ts';
import type { EdgeTier } from '#model/edge-tier.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { READY } from '../support/feed/feed.ts';
import { createFleet, newMachine } from '../support/fleet/fleet.ts';
import { needs } from '../support/runner/needs.ts';

describeOnBothEngines('tiers', (newDatabase) => {
  test(
    'edges of groups with a parent are published, with those of the parent, until they are revoked',
    needs('openssl'),
    async (t) => {
      const fleet = await createFleet(t, await newDatabase(t));
      const { db } = fleet;
      const serials: Record<string, string> = {};
      for (const [edge, group] of Object.entries({ fra1: 'eu', par1: 'core', sin1: 'asia' })) {
        const token = await fleet.createToken({ edge, group });
        const order = { dataDir: newMachine(t), controls: [fleet.control], token, edge, build: 'b', now: fleet.now };
        serials[edge] = (await enrolMachine(order)).serial;
      }
      const published = async () => {
        await announceTiers(db, fleet.now);
        const found = ['fra1', 'par1', 'sin1'].map(async (key) => {
          const body = await readResourceBody(db.query, { kind: 'tier', key });
          return body === undefined ? undefined : (JSON.parse(body) as EdgeTier);
        });
        return await Promise.all(found);
      };
      const before = (await readConfigHead(db.query)).revision;
      assert.deepEqual(await published(), [undefined, undefined, undefined]);
      assert.equal((await readConfigHead(db.query)).revision, before, 'nothing is published without a parent');
      await setGroup(db, { name: 'eu', isDefault: false, parent: 'core' }, fleet.now);
      const child = { group: 'eu', parent: 'core', serials: [serials['fra1']] };
      const parent = { group: 'core', serials: [serials['par1']] };
      assert.deepEqual(await published(), [child, parent, undefined]);
      const at = await readConfigHead(db.query);
      const vitals = { ...READY, tierAddress: '192.0.2.22:8445' };
      const report = {
        edge: 'par1',
        at,
        appliedRevision: 0,
        rejected: [],
        build: 'b',
        startedAt: 1,
        origins: [],
        vitals,
      };
      await recordEdgeStatus(db.query, report, fleet.now);
      const listening = { group: 'core', address: '192.0.2.22:8445', serials: [serials['par1']] };
      assert.deepEqual(await published(), [child, listening, undefined]);
      const settled = (await readConfigHead(db.query)).revision;
      await announceTiers(db, fleet.now);
      assert.equal((await readConfigHead(db.query)).revision, settled, 'what is published is not published again');
      await revokeEdge(db, { edge: 'fra1', reason: 'lost', now: fleet.now, actor: 'test' });
      assert.deepEqual(await published(), [undefined, listening, undefined]);
      await setGroup(db, { name: 'eu', isDefault: false, parent: '' }, fleet.now);
      assert.deepEqual(await published(), [undefined, undefined, undefined]);
    },
  );

  test('groups whose set of domains changes as a whole have another version', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { db } = fleet;
    const versions = async () => {
      return Object.fromEntries((await listGroups(db.query)).map(({ name, version }) => [name, version]));
    };
    for (const name of ['shield', 'core', 'eu'])
      await db.transaction((trx) => saveGroup(trx, { name, isDefault: false, now: 1 }));
    const first = await versions();
    assert.deepEqual(first, { default: 1, shield: 1, core: 1, eu: 1 });
    await setGroup(db, { name: 'core', isDefault: false, parent: 'shield' }, 1);
    await setGroup(db, { name: 'eu', isDefault: false, parent: 'core' }, 1);
    assert.deepEqual(await versions(), { default: 1, shield: 3, core: 2, eu: 1 });
    await setGroup(db, { name: 'eu', isDefault: true }, 1);
    assert.deepEqual(await versions(), { default: 1, shield: 4, core: 3, eu: 2 });
    await setGroup(db, { name: 'eu', isDefault: true, parent: 'shield' }, 1);
    assert.deepEqual(await versions(), { default: 1, shield: 4, core: 4, eu: 2 });
  });
});
