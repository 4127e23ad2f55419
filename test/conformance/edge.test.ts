/** The public HTTP cache tests against the whole service: a domain that was set up through the API, asked over HTTP. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { ADVANCED_OFF } from '../support/edge/advanced.ts';
import { startService } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';
import { runCacheTests } from './engine.ts';
import { EXCEPTIONS, WITHOUT_LANGUAGE_MATCHING } from './exceptions.ts';
import { startSuiteOrigin } from './origin.ts';
import { type CacheTest, readCacheTests, score, type Verdict } from './suite.ts';

const HOST = 'cache.example.com';

interface Profile {
  readonly settings: Readonly<Record<string, string>>;
  readonly matchesLanguage: boolean;
  readonly compresses: boolean;
  readonly exceptions: Readonly<Record<string, string>>;
  readonly optimal: number;
  readonly settleMs?: number;
}

const DEFAULTS = {
  matchesLanguage: false,
  compresses: false,
  exceptions: { ...EXCEPTIONS, ...WITHOUT_LANGUAGE_MATCHING },
  optimal: 99,
};
/** Settings without a disk, where workers share nothing: more than one would split the requests of one test. */
const MEMORY = { CAUSEWAY_EDGE_WORKERS: '1', CAUSEWAY_CACHE_DISK_SIZE: '0' };
const DISK = { CAUSEWAY_EDGE_WORKERS: '1', CAUSEWAY_CACHE_MEMORY: '0', CAUSEWAY_CACHE_DISK_SIZE: '1GB' };

const PROFILES: Readonly<Record<string, Profile>> = {
  'in memory': { ...DEFAULTS, settings: MEMORY },
  // A part of an object is there when it is written; whole ones are served from the fill until then.
  'on disk, with no memory': { ...DEFAULTS, settings: DISK, settleMs: 100 },
  'for a site that matches languages, and compresses': {
    settings: MEMORY,
    matchesLanguage: true,
    compresses: true,
    exceptions: EXCEPTIONS,
    optimal: 100,
  },
};

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`the public HTTP cache tests, ${name}: 160 of 160 required`, needs('cacheTests'), async (t) => {
    const origin = await startSuiteOrigin(t);
    const address = await startDomain(t, profile, origin.port);
    const tests = readCacheTests();
    const proxy = { address, host: HOST, settleMs: profile.settleMs ?? 0 };
    const isExpected = ({ id, kind }: CacheTest, verdict: Verdict) =>
      kind === 'check' || (verdict.kind === 'pass') !== id in profile.exceptions;
    const verdicts = await runCacheTests(tests, proxy, origin, isExpected);
    const unexpected = tests.flatMap((test) => {
      const verdict = verdicts.get(test.id);
      if (verdict !== undefined && isExpected(test, verdict)) return [];
      return [`${test.id}: ${verdict?.kind === 'fail' ? verdict.message : 'passes, though it is an exception'}`];
    });
    assert.deepEqual(unexpected, []);
    assert.deepEqual(
      score(tests, (id) => verdicts.get(id)?.kind === 'pass'),
      { required: 160, optimal: profile.optimal },
    );
  });
}

/** Gives where the edge listens. */
async function startDomain(t: TestContext, profile: Profile, originPort: number) {
  const { settings, matchesLanguage, compresses } = profile;
  const service = await startService(t, { settings: { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', ...settings } });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { domain_id } = await client.call('domain.add', {
    domain: HOST,
    cdn_type: '1',
    data: `127.0.0.1:${originPort}`,
  });
  await client.call('config.setAdvanced', { domain_id, ...ADVANCED_OFF, page_compress: compresses ? 1 : 0 });
  const match_language = matchesLanguage ? '1' : '0';
  await client.call('config.setCacheOptions', { domain_id, set_cookie: 'store', match_language });
  await untilInForce({ client, domain_id });
  const { hostname, port } = new URL(service.edgeUrl);
  return { host: hostname, port: Number(port) };
}
