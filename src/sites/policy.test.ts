import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { splitTarget } from '#http/target.ts';
import { SitePolicies } from './policies.ts';
import { checkPolicy } from './policy.ts';
import type { PolicySpec } from './spec.ts';

type Match = PolicySpec['match'];

function policy(match: Match, content: string, changes: Partial<PolicySpec> = {}): PolicySpec {
  return { match, content, priority: 1, isCached: true, lifetimeSeconds: 60, ...changes };
}

/** The content of the policy that wins. */
function winner(policies: readonly PolicySpec[], path: string, prefixFirst = false): string | undefined {
  const scheme = path.startsWith('https:') ? 'https' : 'http';
  const target = { scheme, host: 'www.example.com', ...splitTarget(path.replace(/^https?:\/\/[^/]*/, '')) } as const;
  return new SitePolicies({ policies, prefixFirst, followsOrigin: true }).winnerFor(target)?.content;
}

describe('what a policy matches', () => {
  const rows: readonly (readonly [match: Match, content: string, path: string, isMatch: boolean])[] = [
    ['prefix', '/a', '/a', true],
    ['prefix', '/a', '/a/', true],
    ['prefix', '/a', '/a/b/c', true],
    ['prefix', '/a', '/a?b', true],
    ['prefix', '/a', '/ab', false],
    ['prefix', '/a', '/A/b', false],
    ['prefix', '/a', '/x/a/b', false],
    ['prefix', '/a/', '/a/b', true],
    ['prefix', '/a/', '/a/', true],
    ['prefix', '/a/', '/a', false],
    ['prefix', '/', '/', true],
    ['prefix', '/', '/a/b', true],
    ['prefix', '/%7Eme', '/~me/x', true],
    ['prefix', '/图', '/%E5%9B%BE/x', true],
    ['prefix', '/a b', '/a%20b/x', true],
    ['suffix', 'jpg', '/a/b.jpg', true],
    ['suffix', 'jpg', '/a/b.JPG?x=1', true],
    ['suffix', '.JPG', '/a/b.jpg', true],
    ['suffix', 'jpg', '/ajpg', false],
    ['suffix', 'jpg', '/a.jpg/b', false],
    ['suffix', 'jpg', '/a?b.jpg', false],
    ['suffix', 'png, jpg', '/b.jpg', true],
    ['suffix', 'png;jpg|gif，webp', '/b.webp', true],
    ['suffix', 'tar.gz', '/b.tar.gz', true],
    ['suffix', 'tar.gz', '/b.gz', false],
    ['suffix', '图', '/a.%E5%9B%BE', true],
    ['regex', '^/api/v[0-9]+/', '/api/v2/x', true],
    ['regex', '^http://www\\.example\\.com/api', '/api', true],
    ['regex', '^https://', '/api', false],
    ['regex', '\\?v=1$', '/a?v=1', true],
    ['regex', '/B/', '/a/b/', false],
    // beyond ASCII: as the key path spells it, and as one character for what follows it
    ['regex', '^/图/', '/%E5%9B%BE/x', true],
    ['regex', '^/图/', '/%e5%9b%be/x', true],
    ['regex', '^/图/', '/\u00e5\u009b\u00be/x', true],
    ['regex', '^/图片$', '/%E5%9B%BE', false],
    ['regex', '^/图+$', '/%E5%9B%BE%E5%9B%BE', true],
    ['regex', '^/a图?$', '/a', true],
    ['regex', '^/a图{2}$', '/a%E5%9B%BE', false],
    ['regex', '^/(图|片)$', '/%E7%89%87', true],
    ['regex', '^/😀\\.[a-z]+$', '/%F0%9F%98%80.jpg', true],
    ['regex', '图.*[^0-9\\]]$', '/%E5%9B%BE/a', true],
    ['regex', '[[:alpha:]]图', '/a%E5%9B%BE', true],
    ['regex', '[]a]图', '/]%E5%9B%BE', true],
    ['regex', '(?i)^/É$', '/%C3%89', true],
    ['regex', 'q=图', '/a?q=%E5%9B%BE', true],
    ['regex', '%E5%9B%BE', '/%E5%9B%BE', true],
  ];
  for (const [match, content, path, isMatch] of rows) {
    test(`a policy of ${match} ${content} ${isMatch ? 'matches' : 'does not match'} ${path}`, () => {
      assert.equal(checkPolicy({ match, content }), undefined);
      assert.equal(winner([policy(match, content)], path) !== undefined, isMatch);
    });
  }

  const refused: readonly (readonly [match: Match, content: string, reason: RegExp])[] = [
    ['prefix', '', /begin with \//],
    ['prefix', 'a', /begin with \//],
    ['prefix', '/a?b', /query/],
    ['prefix', '/%zz', /not a path/],
    ['prefix', '/\u0000', /not a path/],
    ['prefix', '/\ud800', /not a path/],
    ['suffix', '', /names no suffix/],
    ['suffix', ' , .', /names no suffix/],
    ['suffix', 'jpg,a/b', /has a suffix/],
    ['suffix', '\ud800', /has a suffix/],
    ['regex', '(a', /missing closing/],
    ['regex', '(?=a)', /look-around/],
    ['regex', '[图片]', /图 .*write %E5%9B%BE/],
    ['regex', '[^a-é]', /é .*write %C3%A9/],
    ['regex', 'a[]\\]图]', /write %E5%9B%BE/],
    ['regex', '[[:alpha:]图]', /write %E5%9B%BE/],
    ['regex', '\\图', /write %E5%9B%BE/],
    ['regex', '\\Qa图\\E+', /write %E5%9B%BE/],
    ['regex', '(图', /percent-encoded/],
    ['regex', '图'.repeat(57), /longer than 512 characters .*percent-encoded/],
    ['regex', '\ud800', /well-formed/],
    ['regex', 'id=[^&]{1,32}&', /too many ways/],
  ];
  for (const [match, content, reason] of refused) {
    test(`a policy of ${match} ${JSON.stringify(content)} is refused`, () => {
      assert.match(checkPolicy({ match, content }) ?? '', reason);
      assert.throws(
        () => new SitePolicies({ policies: [policy(match, content)], prefixFirst: false, followsOrigin: true }),
      );
    });
  }
});

describe('which policy wins', () => {
  test('the policy of the highest priority wins; of equal ones the earlier', () => {
    const policies = [
      policy('prefix', '/'),
      policy('suffix', 'jpg', { priority: 9 }),
      policy('prefix', '/a', { priority: 9 }),
    ];
    assert.equal(winner(policies, '/a/b.jpg'), 'jpg');
    assert.equal(winner(policies.toReversed(), '/a/b.jpg'), '/a');
    assert.equal(winner(policies, '/c'), '/');
    assert.equal(winner(policies.slice(1), '/c'), undefined);
  });

  test('prefixes win over all others if the site says so, then priority, then the longer, then the earlier', () => {
    const policies = [
      policy('suffix', 'jpg', { priority: 99 }),
      policy('prefix', '/a', { priority: 2 }),
      policy('prefix', '/a/b', { priority: 2 }),
      policy('prefix', '/a/b/c', { priority: 1 }),
      policy('prefix', '/x', { lifetimeSeconds: 1 }),
    ];
    assert.equal(winner(policies, '/a/b/c/d.jpg', true), '/a/b');
    assert.equal(winner(policies, '/a/b/c/d.jpg', false), 'jpg');
    assert.equal(winner(policies, '/d.jpg', true), 'jpg');
  });

  test('a policy for a scheme applies to it only', () => {
    const policies = [policy('prefix', '/a', { scheme: 'https' }), policy('prefix', '/')];
    assert.equal(winner(policies, 'https://www.example.com/a'), '/a');
    assert.equal(winner(policies, 'http://www.example.com/a'), '/');
  });

  test('not cached is a lifetime of zero, and none is longer than a year', () => {
    const lifetimeOf = (changes: Partial<PolicySpec>) =>
      new SitePolicies({
        policies: [policy('prefix', '/', changes)],
        prefixFirst: false,
        followsOrigin: true,
      }).list()[0]?.lifetimeSeconds;
    assert.equal(lifetimeOf({ isCached: false }), 0);
    assert.equal(lifetimeOf({ lifetimeSeconds: 0 }), 0);
    assert.equal(lifetimeOf({ lifetimeSeconds: 31_536_001 }), 31_536_000);
  });
});
