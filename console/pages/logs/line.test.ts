import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FILTER_EXPECTS } from '#contract/domains/check-operations.ts';
import { parseFilter } from '#logs/tail/filter.ts';
import {
  cellsOf,
  FILTER_FIELDS,
  KEPT_LINES,
  NO_FILTER,
  NOTHING_FOLLOWED,
  readFilter,
  urlOf,
  withItems,
  writeFilter,
} from './line.ts';

describe('a log that is followed', () => {
  test('the filter has the fields of the contract, and the service reads it as it was meant', () => {
    assert.deepEqual(FILTER_FIELDS.toSorted(), Object.keys(FILTER_EXPECTS).toSorted());
    assert.equal(writeFilter(NO_FILTER), '');
    const text = writeFilter({ ...NO_FILTER, status: ' 404, 5xx ', path: '/a b/*', cache: 'hit' });
    assert.deepEqual(parseFilter(text), {
      kind: 'filter',
      filter: { status: ['404', '5xx'], path: ['/a%20b/*'], cache: ['hit'] },
    });
    assert.equal(writeFilter(readFilter(text)), text);
    assert.deepEqual(readFilter('path=/a=b nonsense x=1'), { ...NO_FILTER, path: '/a=b' });
  });

  test('a line has a cell for each field, in the order of the fields', () => {
    const { lines } = withItems(NOTHING_FOLLOWED, [{ edge: 'fra1', status: 200, user_agent: 'curl, "8"' }]);
    assert.deepEqual(cellsOf(lines), [
      ['-', 'fra1', '-', '-', '-', '-', '-', '200', ...Array(6).fill('-'), 'curl, "8"'],
    ]);
  });

  test('the latest line is the first, and only so many are kept', () => {
    const items = Array.from({ length: KEPT_LINES + 7 }, (_, n) => ({ edge: 'local', status: n }));
    const half = withItems(NOTHING_FOLLOWED, items.slice(0, 5));
    const { lines } = withItems(half, items.slice(5));
    assert.equal(lines.length, KEPT_LINES);
    assert.equal(lines[0]?.fields.status, String(KEPT_LINES + 6));
    assert.equal(new Set(lines.map(({ id }) => id)).size, KEPT_LINES);
  });

  test('counts of dropped lines are added up, and the end is kept', () => {
    const followed = withItems(NOTHING_FOLLOWED, [
      { start: 600 },
      { dropped: 120 },
      { edge: 'local', target: '/a' },
      { dropped: 3 },
      { end: 'stopping' },
    ]);
    assert.equal(followed.lines.length, 1);
    assert.equal(followed.lines[0]?.fields.referer, '-');
    assert.deepEqual([followed.dropped, followed.end], [123, 'stopping']);
    assert.equal(withItems(NOTHING_FOLLOWED, [{ end: 'something new' }]).end, 'lost');
  });

  test('a line can be explained by the address that it was for', () => {
    const [line] = withItems(NOTHING_FOLLOWED, [{ edge: 'e', host: 'a.example', target: '/x?y=1' }]).lines;
    assert.equal(line && urlOf(line.fields), 'http://a.example/x?y=1');
  });
});
