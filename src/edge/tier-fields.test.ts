import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatFresh, formatTier, parseFresh, parseTier, type TierRequest } from './tier-fields.ts';

const REQUEST: TierRequest = {
  from: 'fra-7.a_b',
  hops: 1,
  siteId: 17,
  newerThanMs: 1500,
  scheme: 'https',
  client: '2001:db8::7',
};
const TEXT = 'v=1, from="fra-7.a_b", hops=1, site=17, newer=1500, scheme=https, client="2001:db8::7"';

describe('Causeway-Tier', () => {
  test('a request is read as it was written, with a limit of age or without one', () => {
    assert.equal(formatTier(REQUEST), TEXT);
    for (const each of [
      REQUEST,
      { ...REQUEST, newerThanMs: undefined, hops: 2, scheme: 'http', client: '192.0.2.1' } as const,
    ])
      assert.deepEqual(parseTier(formatTier(each)), each);
  });

  const refused: readonly (readonly [what: string, from: string, to: string])[] = [
    ['another version', 'v=1', 'v=2'],
    ['an edge id of odd characters', 'fra-7.a_b', 'fra 7'],
    ['no hop', 'hops=1', 'hops=0'],
    ['a third hop', 'hops=1', 'hops=3'],
    ['a site that is not a number', 'site=17', 'site=x'],
    ['a site of eleven digits', 'site=17', 'site=12345678901'],
    ['a negative age', 'newer=1500', 'newer=-1'],
    ['an age of fourteen digits', 'newer=1500', 'newer=12345678901234'],
    ['another scheme', 'scheme=https', 'scheme=ftp'],
    ['a client that is not an address', '2001:db8::7', '2001:db8'],
    ['a member more', 'hops=1', 'hops=1, x=1'],
    ['text behind', 'client="2001:db8::7"', 'client="2001:db8::7", x'],
  ];
  for (const [what, from, to] of refused)
    test(`refused: ${what}`, () => {
      assert.ok(TEXT.includes(from));
      assert.equal(parseTier(TEXT.replace(from, to)), undefined);
    });
});

describe('Causeway-Fresh', () => {
  test('an answer is read as it was written', () => {
    for (const as of ['hit', 'miss', 'stale', 'error'] as const) {
      const fresh = { freshMs: 3_600_000, mayStore: as !== 'stale', as };
      assert.deepEqual(parseFresh(formatFresh(fresh)), fresh);
    }
    assert.equal(formatFresh({ freshMs: 0, mayStore: false, as: 'miss' }), 'fresh=0, store=0, as=miss');
  });

  test('anything else is refused', () => {
    const texts = [
      '',
      'fresh=1',
      'fresh=-1, store=1, as=hit',
      'fresh=1.5, store=1, as=hit',
      'fresh=1, store=2, as=hit',
    ];
    for (const text of [...texts, 'fresh=123456789012345, store=1, as=hit', 'fresh=1, store=1, as=hit, as=hit'])
      assert.equal(parseFresh(text), undefined, text);
  });
});
