import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { doesIfRangeHold, isNotModified } from './conditional.ts';
import { at, get, NOW, store } from './examples.suite.ts';

const fresh = ['Cache-Control', 'max-age=60'];
const both = store([...fresh, 'ETag', '"a"', 'Last-Modified', at(-100)]);
const weak = store([...fresh, 'ETag', 'W/"a"']);
const bare = store([...fresh, 'ETag', 'a']);
const modified = store([...fresh, 'Last-Modified', at(-100)]);
const dated = store(fresh);

describe('the client’s copy is current', () => {
  const rows: [stored: typeof both, request: string[], expected: boolean][] = [
    [both, [], false],
    [both, ['If-None-Match', '"a"'], true],
    [both, ['If-None-Match', 'W/"a"'], true],
    [both, ['If-None-Match', '"x", "a"'], true],
    [both, ['If-None-Match', '"x"', 'If-None-Match', '"a"'], true],
    [both, ['If-None-Match', '"x"'], false],
    [both, ['If-None-Match', '*'], true],
    [both, ['If-None-Match', '"x"', 'If-Modified-Since', at(0)], false],
    [both, ['If-None-Match', '"a"', 'If-Modified-Since', at(-1000)], true],
    [weak, ['If-None-Match', '"a"'], true],
    [bare, ['If-None-Match', 'a'], true],
    [modified, ['If-None-Match', '"a"'], false],
    [modified, ['If-Modified-Since', at(-100)], true],
    [modified, ['If-Modified-Since', at(-99)], true],
    [modified, ['If-Modified-Since', at(-101)], false],
    [modified, ['If-Modified-Since', 'Friday, 15-May-26 11:59:00 GMT'], true],
    [modified, ['If-Modified-Since', 'Fri May 15 11:59:00 2026'], true],
    [modified, ['If-Modified-Since', 'soon'], false],
    [dated, ['If-Modified-Since', at(0)], true],
    [dated, ['If-Modified-Since', at(-1)], false],
    [store([...fresh, 'ETag', '"a"'], { status: 404 }), ['If-None-Match', '"a"'], false],
    [
      store([...fresh, 'ETag', '"a"', 'Content-Range', 'bytes 0-4/10'], { status: 206 }),
      ['If-None-Match', '"a"'],
      true,
    ],
  ];
  for (const [stored, headers, expected] of rows) {
    test(`the client’s copy is current, ${expected}: ${headers.join(' ')} for ${stored.status} ${stored.headers.slice(4).join(' ')}`, () => {
      assert.equal(isNotModified(get(...headers), stored, NOW), expected);
    });
  }
});

test('If-Range holds for an equal strong tag, or an equal date that is strong', () => {
  const recent = store([...fresh, 'Last-Modified', at(0)]);
  const rows: [stored: typeof both, ifRange: string | undefined, expected: boolean][] = [
    [both, undefined, true],
    [both, '"a"', true],
    [both, '"b"', false],
    [both, 'W/"a"', false],
    [weak, 'W/"a"', false],
    [weak, '"a"', false],
    [modified, '"a"', false],
    [both, at(-100), true],
    [both, at(-99), false],
    [recent, at(0), false],
    [dated, at(0), false],
    [both, 'Friday, 15-May-26 11:58:20 GMT', false],
  ];
  for (const [stored, ifRange, expected] of rows) {
    const facts = ifRange === undefined ? get() : get('If-Range', ifRange);
    assert.equal(doesIfRangeHold(facts, stored), expected, `${ifRange} ${stored.headers.join(' ')}`);
  }
});
