/** The public HTTP cache tests against an edge that fetches through a parent: they give what they give without one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { createTestFleet } from '../support/edge/tiers.ts';
import { needs } from '../support/runner/needs.ts';
import { runCacheTests } from './engine.ts';
import { EXCEPTIONS, WITHOUT_LANGUAGE_MATCHING } from './exceptions.ts';
import { startSuiteOrigin } from './origin.ts';
import { type CacheTest, readCacheTests, score, type Verdict } from './suite.ts';

const ALL_EXCEPTIONS: Readonly<Record<string, string>> = { ...EXCEPTIONS, ...WITHOUT_LANGUAGE_MATCHING };

test('the public HTTP cache tests, through two tiers: 160 of 160 required', needs('cacheTests'), async (t) => {
  const origin = await startSuiteOrigin(t);
  const fleet = createTestFleet(t, [origin.port]);
  await fleet.start('par1', 'core', { listens: true });
  const child = await fleet.start('fra1', 'eu', { parent: 'core' });
  for (const { put } of fleet.edges) put({ name: SITE_HOST, cache: { setCookie: 'store' } });
  const tests = readCacheTests();
  const proxy = { address: { host: '127.0.0.1', port: child.port }, host: SITE_HOST };
  const isExpected = ({ id, kind }: CacheTest, verdict: Verdict) =>
    kind === 'check' || (verdict.kind === 'pass') !== id in ALL_EXCEPTIONS;
  const verdicts = await runCacheTests(tests, proxy, origin, isExpected);
  const unexpected = tests.flatMap((each) => {
    const verdict = verdicts.get(each.id);
    if (verdict !== undefined && isExpected(each, verdict)) return [];
    return [`${each.id}: ${verdict?.kind === 'fail' ? verdict.message : 'passes, though it is an exception'}`];
  });
  assert.deepEqual(unexpected, []);
  assert.deepEqual(
    score(tests, (id) => verdicts.get(id)?.kind === 'pass'),
    { required: 160, optimal: 99 },
  );
  assert.match(await child.registry.metrics(), /causeway_tier_failures_total 0/);
});
