import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseList } from 'structured-headers';
import type { CacheMark } from '../reasons.ts';
import { cacheStatus } from './cache-status.ts';

const ROWS: readonly (readonly [mark: CacheMark, isReplacement: boolean, expected: string])[] = [
  [{ status: 'HIT' }, false, '; hit'],
  [{ status: 'STALE' }, false, '; hit; detail=stale'],
  [{ status: 'REVALIDATED' }, false, '; fwd=stale; fwd-status=304'],
  [{ status: 'MISS' }, false, '; fwd=miss; stored'],
  [{ status: 'MISS' }, true, '; fwd=stale; stored'],
  [{ status: 'MISS', reason: 'noStore' }, false, '; fwd=miss; detail=noStore'],
  [{ status: 'BYPASS', reason: 'method' }, false, '; fwd=method; detail=method'],
  [{ status: 'BYPASS', reason: 'policy' }, false, '; fwd=bypass; detail=policy'],
  [{ status: 'DENIED', reason: 'ip' }, false, '; detail=ip'],
  [{ status: 'ERROR', reason: 'originTimeout' }, false, '; detail=originTimeout'],
];

for (const [mark, isReplacement, expected] of ROWS) {
  test(`the mark ${mark.status} is the field causeway${expected}`, () => {
    assert.equal(cacheStatus({ mark, isReplacement }), expected);
    assert.equal(parseList(`causeway${expected}`).length, 1);
  });
}
