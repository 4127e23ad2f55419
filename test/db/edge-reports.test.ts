/** Reports of many edges in one statement: each has the outcome that it would have alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findEdgeView, listEdgeViews, noteEdgesSeen, recordEdgeStatus, recordEdgeStatuses } from '#db/tables/edges.ts';
import { drainEdge, removeEdge } from '#db/tables/fleet/edge-orders.ts';
import { enrolEdge, setSuspect } from '#db/tables/fleet/enrolled-edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import type { EdgeStatus } from '#model/edge.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase, publishNow, putSite, READY } from '../support/feed/feed.ts';

const NOW = 1_800_000_000_000;
const EDGES = 1000;

describeOnBothEngines('reports of many edges', (newDatabase) => {
  test('each report in a statement has its own outcome, in the order given', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    await publishNow(db, putSite(1, 'a.example.com'));
    const at = await readConfigHead(db.query);
    const report = (edge: string, change: Partial<EdgeStatus> = {}): EdgeStatus => {
      const { revision: appliedRevision } = at;
      const known = { at, appliedRevision, rejected: [], build: 'b', startedAt: 5, origins: [], vitals: READY };
      return { edge, ...known, ...change };
    };
    await db.transaction(async (trx) => {
      for (const edge of ['suspect', 'drained', 'removed'])
        await enrolEdge(trx, { edge, group: 'eu', labels: {}, machine: '', sealKey: '' }, NOW);
      await setSuspect(trx, 'suspect', NOW);
      await drainEdge(trx, { edge: 'drained', at: NOW, detail: '', actor: 'test' });
      await removeEdge(trx, { edge: 'removed', at: NOW, detail: '', actor: 'test' });
    });
    await recordEdgeStatus(db.query, report('twin', { startedAt: 9 }), NOW);
    await recordEdgeStatus(db.query, report('itself', { vitals: { ...READY, state: 'draining' } }), NOW);
    const rejected = [{ kind: 'site', key: 'ü"\\\u0000.example', revision: 1, error: "it's\n{}" }];
    const reports = [
      report('z-new', { rejected, build: 'one\u0000two' }),
      report('twin'),
      report('other-history', { at: { ...at, tag: 'other' } }),
      report('suspect'),
      report('drained'),
      report('removed'),
      report('itself', { vitals: { ...READY, state: 'draining', clockOffsetMs: -7 } }),
      report('a-new', { at: { ...at, revision: 0, tag: 'none' }, appliedRevision: 0 }),
    ];
    assert.deepEqual(await recordEdgeStatuses(db.query, reports, NOW + 1000), [
      'recorded',
      'superseded',
      'unknownPlace',
      'recorded',
      'recorded',
      'recorded',
      'recorded',
      'unknownPlace',
    ]);
    const seen = await listEdgeViews(db.query, NOW + 1000);
    const shown = seen.map(({ edge, state, appliedRevision, reportedAt, startedAt }) => {
      return [edge, state, appliedRevision, reportedAt - NOW, startedAt];
    });
    assert.deepEqual(
      shown.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      [
        ['a-new', 'ready', 0, 1000, 5],
        ['drained', 'draining', at.revision, 1000, 5],
        ['itself', 'draining', at.revision, 1000, 5],
        ['other-history', 'ready', 0, 1000, 5],
        ['removed', 'removed', at.revision, 1000, 5],
        ['suspect', 'suspect', 0, 1000, 5],
        ['twin', 'ready', at.revision, 0, 9],
        ['z-new', 'ready', at.revision, 1000, 5],
      ],
    );
    const whole = await findEdgeView(db.query, 'z-new', NOW + 1000);
    assert.deepEqual(whole?.rejected, rejected);
    assert.deepEqual([whole?.load, whole?.health, whole?.features], [READY.load, READY.health, READY.features]);
    const itself = await findEdgeView(db.query, 'itself', NOW + 1000);
    assert.deepEqual([itself?.drainAt, itself?.clockOffsetMs], [NOW, -7]);
  });

  test('a thousand edges report at once from two controls, while both note who is connected', async (t) => {
    const target = await newDatabase(t);
    await using db = await openTestDatabase(target);
    await using other = await openTestDatabase(target);
    const at = await readConfigHead(db.query);
    const known = { at, appliedRevision: at.revision, rejected: [], build: 'b', origins: [] };
    const edges = Array.from({ length: EDGES }, (_, n) => `edge-${n}`);
    const reports = edges.map((edge): EdgeStatus => ({ edge, ...known, startedAt: 5 }));
    await recordEdgeStatuses(db.query, reports, NOW);
    const reversed = reports.toReversed();
    await Promise.all(
      [1, 2, 3].flatMap((n) => [
        recordEdgeStatuses(db.query, reports, NOW + n),
        recordEdgeStatuses(other.query, reversed, NOW + n),
        noteEdgesSeen(db.query, edges.toReversed(), NOW + n),
        noteEdgesSeen(other.query, edges, NOW + n),
      ]),
    );
    await noteEdgesSeen(other.query, edges.slice(1), NOW + 10_000);
    const views = await listEdgeViews(db.query, NOW + 10_000);
    assert.equal(views.length, EDGES);
    assert.equal(views.filter(({ seenAt }) => seenAt === NOW + 10_000).length, EDGES - 1);
  });
});
