/** Answers that are kept ready are those of the pipeline, in every byte, and end when what they depend on changes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FetchOptions, type Received, SITE_HOST } from '../support/edge/edge.ts';
import { CASES, type Case, type StartedCase, startCase, type Version } from '../support/edge/shortcuts.ts';
import { ODD_FIELDS } from '../support/edge/twins/twin-requests.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

/** Asks for the same, and is not plain. */
const BESIDE = ['Pragma', 'x'];
/** Fields of HTTP/1.1 only, or that Node's clients cannot send; the twins send them. */
const FRAMING: ReadonlySet<string> = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'expect', 'upgrade', 'content-length', 'transfer-encoding'],
  ...['x-a', 'range'],
]);
const VERSIONS: readonly Version[] = ['HTTP/1.1', 'HTTP/2'];
const needsOf = (version: Version) => (version === 'HTTP/2' ? needs('openssl') : {});

/** An origin that is asked names another moment each time. */
function essence({ status, headers, body }: Received): readonly unknown[] {
  return [status, headers['x-cache'], body];
}

for (const version of VERSIONS) {
  describe(`a ready answer over ${version}`, needsOf(version), () => {
    for (const [name, one] of CASES) {
      test(`a ready answer over ${version}, ${name}, is that of the pipeline, in head, body and log`, async (t) => {
        const { edge, advance, origin, fetch, learn, prepared } = await startCase(t, version, one);
        const path = '/a/b?x=%20y';
        await learn(path, one.request);
        await eventually('both are logged', () => edge.log.length === 2);
        for (const ms of [0, 1, 999, 5_000]) {
          advance(ms);
          edge.log.length = 0;
          const ready = await fetch(path, one.request);
          const piped = await fetch(path, { ...one.request, headers: [...(one.request?.headers ?? []), ...BESIDE] });
          assert.deepEqual(ready, piped);
          await eventually('both are logged', () => edge.log.length === 2);
          const [line, other] = edge.log;
          assert.ok(line !== undefined && other !== undefined);
          assert.deepEqual({ ...other, requestBytes: other.requestBytes - 'Pragma: x\r\n'.length }, line);
        }
        assert.equal(await prepared(), 4);
        assert.equal(origin.requests.length, 1);
      });
    }

    test(`a ready answer over ${version} is that of the pipeline, whatever further field a request has`, async (t) => {
      const { fetch, learn } = await startCase(t, version);
      await learn('/a');
      for (const [name, values] of Object.entries(ODD_FIELDS)) {
        if (FRAMING.has(name.toLowerCase())) continue;
        for (const value of values) {
          const headers = [name, value];
          const [ready, piped] = [
            await fetch('/a', { headers }),
            await fetch('/a', { headers: [...headers, ...BESIDE] }),
          ];
          assert.deepEqual(essence(ready), essence(piped), `${name}: ${value}`);
        }
      }
    });

    for (const [name, request] of [
      ['HEAD', { method: 'HEAD' }],
      ['a range', { headers: ['Range', 'bytes=0-1'] }],
      ['a client with another version', { headers: ['If-None-Match', '"2"'] }],
      ['a client with an older version', { headers: ['If-Modified-Since', 'Wed, 21 Oct 2015 07:27:00 GMT'] }],
      ['a request that must go to the origin', { headers: ['If-Match', '"1"'] }],
      ['a repeated field', { headers: ['User-Agent', 'a', 'User-Agent', 'b'] }],
    ] as const satisfies readonly (readonly [string, FetchOptions])[]) {
      test(`a ready answer over ${version} does not serve ${name}`, async (t) => {
        const { learn, isPrepared } = await startCase(t, version);
        await learn('/a');
        assert.equal(await isPrepared('/a', request), false);
        assert.equal(await isPrepared(), true);
      });
    }
  });
}

describe('a ready answer', () => {
  const ends: readonly (readonly [name: string, end: (started: StartedCase) => unknown])[] = [
    ['the site changes', ({ put }) => put({ expiresSeconds: 5 })],
    ['the site is disabled', ({ put }) => put({ state: 'disabled' })],
    ['its account is over its bandwidth', ({ put }) => put({ state: 'accountLimit' })],
    [
      'it is purged',
      ({ edge, advance }) => {
        advance(10);
        edge.purge({ kind: 'url', target: `${SITE_HOST}/a` });
        advance(10);
      },
    ],
    ['it is stale', ({ advance }) => advance(60_000)],
    ['the clock is set back to before it was asked for', ({ advance }) => advance(-10_000)],
    [
      'an unsafe request invalidates it',
      ({ edge, advance }) => {
        advance(10);
        return edge.get('/a', { method: 'POST', body: 'x' });
      },
    ],
  ];
  for (const [name, end] of ends) {
    test(`a ready answer is dropped when ${name}`, async (t) => {
      const started = await startCase(t, 'HTTP/1.1');
      await started.learn('/a');
      assert.equal(await started.isPrepared(), true);
      await end(started);
      assert.equal(await started.isPrepared(), false);
    });
  }

  test('a ready answer serves the same coding, host and target only, and clients that the rules admit', async (t) => {
    const { edge, learn, isPrepared } = await startCase(t, 'HTTP/1.1', {
      site: { access: { deniedUserAgents: ['*bot*'] } },
    });
    await learn('/a');
    assert.equal(await isPrepared('/a', { headers: ['Accept-Encoding', 'br'] }), false);
    assert.equal(await isPrepared('/a?'), false);
    assert.equal(await isPrepared('/a', { host: 'other.test' }), false);
    assert.equal(await isPrepared('/a', { host: `${SITE_HOST.toUpperCase()}:80` }), true);
    assert.equal(await isPrepared('/a', { host: `${SITE_HOST}.` }), true);
    assert.equal(await isPrepared('/a', { headers: ['User-Agent', 'a bot'] }), false);
    assert.equal((await edge.get('/a', { headers: ['User-Agent', 'a bot'] })).status, 403);
    assert.equal(await isPrepared(), true);
  });

  for (const version of VERSIONS) {
    for (const allowsBlank of [true, false]) {
      const whom = `the pages that may show it${allowsBlank ? ', and requests without a Referer,' : ''}`;
      test(`a ready answer serves ${whom} over ${version}`, needsOf(version), async (t) => {
        const { fetch, learn, isPrepared } = await startCase(t, version, {
          site: { access: { referer: { mode: 'allow', allowsBlank, entries: ['x.test'] } } },
        });
        const from = (referer: string) => ({ headers: ['Referer', referer] });
        await learn('/a', from('https://x.test/'));
        for (const allowed of ['https://x.test/b', 'https://www.x.test', 'https://www.x.test?c'].map(from))
          assert.equal(await isPrepared('/a', allowed), true);
        for (const refused of ['https://www.x.test.y.test/', 'https://www.x.tes', 'https://y.test/'].map(from)) {
          assert.equal(await isPrepared('/a', refused), false);
          assert.equal((await fetch('/a', refused)).status, 403);
        }
        assert.equal(await isPrepared('/a'), allowsBlank);
        assert.equal((await fetch('/a')).status, allowsBlank ? 200 : 403);
        assert.equal(await isPrepared('/a', from('https://www.x.test')), true);
      });
    }
  }

  for (const [name, one] of [
    ['varies by more than the coding', { origin: { vary: 'Cookie' } }],
    ['is well-known', {}],
  ] as const satisfies readonly (readonly [string, Case])[]) {
    test(`a ready answer is not made of a response that ${name}`, async (t) => {
      const { learn, isPrepared } = await startCase(t, 'HTTP/1.1', one);
      const path = name === 'is well-known' ? '/.well-known/x' : '/a';
      await learn(path);
      assert.equal(await isPrepared(path), false);
    });
  }
});
