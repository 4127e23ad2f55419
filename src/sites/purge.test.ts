/** What purges cover, as a table; and the law that a purge is never undone, however many follow. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { mergePurges } from './merge-purges.ts';
import { compilePurges, MAX_SITE_PURGES, type PurgeScope, purgedAt, type SitePurge } from './purge.ts';

const HOST = 'www.example.com';

describe('purgedAt', () => {
  const purges: readonly SitePurge[] = [
    url('/a', 10),
    url('/a?x=1', 20),
    url('/b', 30),
    url('/b', 25),
    directory('/images/', 40),
    directory('/images/old/', 50),
    directory('/images/new/', 35),
    directory('/x//', 60),
  ];
  const rows: readonly (readonly [target: string, at: number | undefined])[] = [
    ['/a', 10],
    ['/a?x=1', 20],
    ['/a?x=2', undefined],
    ['/a/', undefined],
    ['/A', undefined],
    ['/', undefined],
    ['/b', 30],
    ['/images', undefined],
    ['/images?/images/', undefined],
    ['/images/', 40],
    ['/images/?page=2', 40],
    ['/images/a.jpg', 40],
    ['/images/old/a.jpg', 50],
    ['/images/new/deep/a.jpg', 40],
    ['/imagesque/a.jpg', undefined],
    ['/other/images/a.jpg', undefined],
    ['/x/y', undefined],
    ['/x//y', 60],
  ];
  for (const [target, at] of rows) {
    test(`purgedAt ${target} is ${at}`, () => assert.equal(find(purges, target), at));
  }

  test('a purge covers nothing of another host, unless it covers the whole site', () => {
    assert.equal(find(purges, '/a', 'api.example.com'), undefined);
    assert.equal(find([...purges, site(5)], '/a', 'api.example.com'), 5);
    assert.equal(find([...purges, site(5)], '/a'), 10);
    assert.equal(find([...purges, site(99)], '/images/old/a.jpg'), 99);
  });

  test('a site without purges has none', () => {
    assert.equal(compilePurges([]), undefined);
    assert.equal(purgedAt({}, HOST, '/a'), undefined);
  });

  test('purges beyond the maximum are one for the whole site, at the instant of the last', () => {
    const many = Array.from({ length: MAX_SITE_PURGES }, (_, n) => url(`/${n}`, n));
    assert.equal(find(many, '/other'), undefined);
    assert.equal(find([...many, url('/one-more', 7)], '/other'), MAX_SITE_PURGES - 1);
  });
});

describe('mergePurges', () => {
  const rows: readonly (readonly [present: string, asked: string, added: string, removed: string])[] = [
    ['', 'u/a', 'u/a', ''],
    ['u/a', 'u/a', 'u/a', 'u/a'],
    ['u/a u/b', 'u/c', 'u/c', ''],
    ['u/a/1 u/a u/b d/a/b/ d/a/', 'd/a/', 'd/a/', 'u/a/1 d/a/b/ d/a/'],
    ['d/a/', 'u/a/1', 'u/a/1', ''],
    ['u/a d/b/ s', 's', 's', 'u/a d/b/ s'],
    ['s', 'u/a', 'u/a', ''],
    ['', 'u/a/1 d/a/ d/a/b/ u/a u/a', 'd/a/ u/a', ''],
    ['', 'd/a/ d/a/', 'd/a/', ''],
  ];
  for (const [present, asked, added, removed] of rows) {
    test(`${present || 'none'} and then ${asked}: ${added}${removed && ` without ${removed}`}`, () => {
      const keyed = parse(present).map((scope, index) => ({ ...scope, key: present.split(' ')[index] ?? '' }));
      const merged = mergePurges(keyed, parse(asked));
      assert.deepEqual(merged, { added: parse(added), removedKeys: removed.split(' ').filter((key) => key !== '') });
    });
  }

  test('purges beyond the maximum are replaced by one for the whole site', () => {
    const present = Array.from({ length: MAX_SITE_PURGES - 1 }, (_, n) => ({ ...url(`/${n}`, 0), key: `k${n}` }));
    assert.equal(mergePurges(present, [url('/x', 0)]).removedKeys.length, 0);
    assert.equal(mergePurges(present, [url('/5', 0), url('/x', 0)]).removedKeys.length, 1);
    const beyond = mergePurges(present, [url('/x', 0), url('/y', 0)]);
    assert.deepEqual(beyond.added, [{ kind: 'site', target: '' }]);
    assert.equal(beyond.removedKeys.length, MAX_SITE_PURGES - 1);
  });

  test('a purge is never undone: absent objects stay absent, and requested ones are absent from then on', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(anyScope(), { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
        anyTarget(),
        (calls, target) => {
          let live: (SitePurge & { readonly key: string })[] = [];
          let before = Number.NEGATIVE_INFINITY;
          for (const [at, asked] of calls.entries()) {
            const { added, removedKeys } = mergePurges(live, asked);
            const fresh = added.map((scope, n) => ({ ...scope, appliedAt: at, key: `${at}-${n}` }));
            live = [...live.filter(({ key }) => !removedKeys.includes(key)), ...fresh];
            const after = find(live, target) ?? Number.NEGATIVE_INFINITY;
            const isAsked =
              find(
                asked.map((scope) => ({ ...scope, appliedAt: at })),
                target,
              ) !== undefined;
            assert.equal(after, isAsked ? at : before);
            before = after;
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

/** `u/a d/b/ s` → scopes. */
function parse(text: string): PurgeScope[] {
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      if (word === 's') return { kind: 'site', target: '' };
      return { kind: word.startsWith('d') ? 'directory' : 'url', target: HOST + word.slice(1) };
    });
}

function anyScope(): fc.Arbitrary<PurgeScope> {
  const target = anyTarget().map((path) => HOST + path);
  const directoryTarget = anyPath().map((path) => `${HOST}${path}${path.endsWith('/') ? '' : '/'}`);
  return fc.oneof(
    { weight: 6, arbitrary: target.map((value) => ({ kind: 'url', target: value }) as const) },
    { weight: 4, arbitrary: directoryTarget.map((value) => ({ kind: 'directory', target: value }) as const) },
    { weight: 1, arbitrary: fc.constant({ kind: 'site', target: '' } as const) },
  );
}

/** Few enough that purges and targets meet. */
function anyPath(): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom('/', '/a', '/b', '/ab'), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(''));
}

function anyTarget(): fc.Arbitrary<string> {
  return fc.tuple(anyPath(), fc.constantFrom('', '?', '?a/', '?/a/')).map(([path, query]) => path + query);
}

function find(purges: readonly SitePurge[], target: string, host = HOST): number | undefined {
  const compiled = compilePurges(purges);
  return purgedAt(compiled === undefined ? {} : { purges: compiled }, host, target);
}

function url(path: string, appliedAt: number): SitePurge {
  return { kind: 'url', target: HOST + path, appliedAt };
}

function directory(path: string, appliedAt: number): SitePurge {
  return { kind: 'directory', target: HOST + path, appliedAt };
}

function site(appliedAt: number): SitePurge {
  return { kind: 'site', target: '', appliedAt };
}
