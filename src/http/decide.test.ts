import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from './decide.ts';
import { at, get, NOW, options, request, store } from './examples.suite.ts';
import type { CacheOptions } from './options.ts';
import { wholeSection } from './request-fields.ts';
import type { RequestFacts, Stored } from './stored.ts';

const cc = (value: string, ...more: string[]) => store(['Cache-Control', value, 'ETag', '"a"', ...more]);
const asked = (value: string) => get('Cache-Control', value);
const strict = { requestDirectives: true };
const part = (first: number, last: number) =>
  store(['Cache-Control', 'max-age=10', 'Content-Range', `bytes ${first}-${last}/10`], { status: 206 });

/** Stored response, seconds after it arrived, request, options, decision (`stale+` starts a validation). */
type Row = [
  stored: Stored | undefined,
  after: number,
  request: RequestFacts,
  options: Partial<CacheOptions>,
  expected: string,
];

const ROWS: Row[] = [
  [undefined, 0, get(), {}, 'miss'],
  [cc('max-age=10'), 9.999, get(), {}, 'hit'],
  [cc('max-age=10'), 10, get(), {}, 'revalidate'],
  [cc('max-age=10'), 0, request('HEAD'), {}, 'hit'],
  [cc('max-age=10', 'Age', '11'), 0, get(), {}, 'revalidate'],
  [cc('no-cache, max-age=10'), 0, get(), {}, 'revalidate'],
  [cc('no-cache="X-A", max-age=10'), 0, get(), {}, 'hit'],
  [cc('max-age=10, must-revalidate'), 0, get(), {}, 'hit'],
  [{ ...cc('max-age=10'), isInvalid: true }, 0, get(), {}, 'revalidate'],
  [{ ...cc('max-age=10, stale-while-revalidate=60'), isInvalid: true }, 15, get(), {}, 'revalidate'],
  [cc('max-age=10'), 0, get('Authorization', 'x'), {}, 'hit'],
  // bypasses
  [cc('max-age=10'), 0, request('POST'), {}, 'bypass method'],
  [cc('max-age=10'), 0, request('M-SEARCH'), {}, 'bypass method'],
  [cc('max-age=10'), 0, get('Content-Length', '1'), {}, 'bypass requestBody'],
  [cc('max-age=10'), 0, get('If-Match', '"a"'), {}, 'bypass precondition'],
  [cc('max-age=10'), 0, get('If-Unmodified-Since', at(0)), {}, 'bypass precondition'],
  [undefined, 0, get('If-None-Match', '"a"'), {}, 'miss'],
  // stale-while-revalidate
  [cc('max-age=10, stale-while-revalidate=5'), 10, get(), {}, 'stale+'],
  [cc('max-age=10, stale-while-revalidate=5'), 15, get(), {}, 'stale+'],
  [cc('max-age=10, stale-while-revalidate=5'), 15.001, get(), {}, 'revalidate'],
  [cc('max-age=10, stale-while-revalidate=0'), 10, get(), {}, 'revalidate'],
  [cc('max-age=10, stale-while-revalidate=5, must-revalidate'), 11, get(), {}, 'revalidate'],
  [cc('max-age=10, stale-while-revalidate=5, proxy-revalidate'), 11, get(), {}, 'revalidate'],
  [cc('s-maxage=10, stale-while-revalidate=5'), 11, get(), {}, 'stale+'],
  [cc('no-cache, max-age=10, stale-while-revalidate=5'), 11, get(), {}, 'revalidate'],
  // the client's directives: two always apply, the others if the site honours them
  [undefined, 0, asked('only-if-cached'), {}, 'gatewayTimeout'],
  [cc('max-age=10'), 0, asked('only-if-cached'), {}, 'hit'],
  [cc('max-age=10'), 10, asked('only-if-cached'), {}, 'gatewayTimeout'],
  [cc('max-age=10, stale-while-revalidate=5'), 11, asked('only-if-cached'), {}, 'stale+'],
  [cc('max-age=10'), 12, asked('max-stale=2'), {}, 'stale'],
  [cc('max-age=10'), 12.001, asked('max-stale=2'), {}, 'revalidate'],
  [cc('max-age=10'), 1e6, asked('max-stale'), {}, 'stale'],
  [cc('max-age=10, must-revalidate'), 12, asked('max-stale'), {}, 'revalidate'],
  [cc('s-maxage=10'), 12, asked('max-stale'), {}, 'revalidate'],
  [cc('max-age=10'), 5, asked('no-cache'), {}, 'hit'],
  [cc('max-age=10'), 5, asked('no-cache'), strict, 'revalidate'],
  [cc('max-age=10'), 5, get('Pragma', 'no-cache'), {}, 'hit'],
  [cc('max-age=10'), 5, get('Pragma', 'no-cache'), strict, 'revalidate'],
  [cc('max-age=10'), 5, asked('no-store'), {}, 'hit'],
  [cc('max-age=10'), 5, asked('no-store'), strict, 'bypass requestNoStore'],
  [cc('max-age=10'), 5, asked('max-age=4'), {}, 'hit'],
  [cc('max-age=10'), 5, asked('max-age=4'), strict, 'revalidate'],
  [cc('max-age=10'), 5, asked('max-age=5'), strict, 'hit'],
  [cc('max-age=10'), 0, asked('max-age=0'), strict, 'revalidate'],
  [cc('max-age=10'), 5, get(), strict, 'hit'],
  [cc('max-age=10'), 12, asked('max-stale=2'), strict, 'stale'],
  [cc('max-age=10'), 12, asked('max-age=60, max-stale=2'), strict, 'stale'],
  [cc('max-age=10'), 12, asked('max-age=60'), strict, 'revalidate'],
  [cc('max-age=10'), 5, asked('min-fresh=5'), strict, 'hit'],
  [cc('max-age=10'), 5, asked('min-fresh=6'), strict, 'revalidate'],
  [cc('max-age=10, stale-while-revalidate=60'), 5, asked('min-fresh=6'), strict, 'revalidate'],
  [cc('max-age=10, stale-while-revalidate=60'), 15, asked('no-cache'), strict, 'revalidate'],
  [cc('max-age=10, stale-while-revalidate=60'), 15, asked('max-age=12'), strict, 'revalidate'],
  // parts
  [part(0, 4), 0, get(), {}, 'complete'],
  [part(0, 4), 11, get(), {}, 'miss'],
  [part(0, 4), 0, request('HEAD'), {}, 'miss'],
  [part(5, 9), 0, get(), {}, 'miss'],
  [part(5, 9), 0, get('Range', 'bytes=6-7'), {}, 'hit'],
  [part(5, 9), 11, get('Range', 'bytes=6-7'), {}, 'revalidate'],
  [part(5, 9), 0, get('Range', 'bytes=4-7'), {}, 'miss'],
  [part(0, 4), 0, get('Range', 'bytes=4-7'), {}, 'miss'],
];

describe('decide', () => {
  for (const [stored, after, facts, site, expected] of ROWS) {
    const name = `${stored?.headers.slice(2).join(' ') ?? 'nothing stored'} +${after} s ${facts.method} ${wholeSection(facts.sentHeaders()).join(' ')}`;
    test(`decide, ${expected}: ${name} ${Object.keys(site).join()}`, () => {
      const decision = decide(facts, stored, NOW + after * 1000, options(site));
      let word: string = decision.kind;
      if (decision.kind === 'bypass') word += ` ${decision.reason}`;
      if (decision.kind === 'stale' && decision.shouldRevalidate) word += '+';
      assert.equal(word, expected);
    });
  }
});
