import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeOf, coursesOf, shareOf } from './courses.ts';

const of = (metric: 'requests' | 'hits', values: number[], before?: number[]) => {
  return { domain_id: '', domain_name: '', metric, values, ...(before && { before }) };
};

test('courses have their totals, and those of the time before where it was asked for', () => {
  const courses = coursesOf({ series: [of('hits', [1, 2]), of('requests', [3, 4], [5, 0])] });
  assert.deepEqual(courses.requests, { values: [3, 4], total: 7, before: 5 });
  assert.deepEqual(courses.hits, { values: [1, 2], total: 3, before: undefined });
  assert.deepEqual(courses.status_5xx, { values: [], total: 0, before: undefined });
});

test('there is no share of nothing, and no change from it', () => {
  assert.equal(shareOf(0, 0), undefined);
  assert.equal(shareOf(1, 4), 0.25);
  assert.equal(changeOf(3, 0), undefined);
  assert.equal(changeOf(3, undefined), undefined);
  assert.equal(changeOf(3, 2), 0.5);
});
